"""Requests within the limits that would hold the event loop, or the service, for long."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from sidecheck.v1 import (
    conversion_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
)

__all__ = ["ATTACKS", "Attack"]


@dataclass(frozen=True, slots=True)
class Attack:
    """One request, made for a count of whatever it has many of."""

    method: str
    request: Callable[[int], Message]
    #: The count of the largest request within the limits.
    full: int
    #: Requests whose effects the attack builds on, for the same count.
    before: Callable[[int], list[tuple[str, Message]]] = lambda _: []


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _tool(number: int, **schema: Any) -> dict[str, Any]:
    properties = {f"p{number}": {"type": "string", "maxLength": number + 1}}
    return {
        "name": f"tool_{number}",
        "description": "x",
        "inputSchema": {"type": "object", "properties": properties, **schema},
    }


def _inline(tools: list[Any]) -> list[target_pb2.InlineTool]:
    texts = (tool if isinstance(tool, bytes) else _json(tool) for tool in tools)
    return [target_pb2.InlineTool(json=text) for text in texts]


def _names(make: Callable[[int], str]) -> Callable[[int], Message]:
    return lambda count: protocol_service_pb2.CheckToolNamesRequest(names=map(make, range(count)))


def _check_tools(make: Callable[[int], Any]) -> Callable[[int], Message]:
    return lambda count: protocol_service_pb2.CheckToolsRequest(
        tools=_inline(list(map(make, range(count))))
    )


def _register(make: Callable[[int], Any], **fields: Any) -> Callable[[int], Message]:
    return lambda count: registry_service_pb2.RegisterToolsRequest(
        server="s", tools=_inline(list(map(make, range(count)))), **fields
    )


def _integers(count: int) -> bytes:
    return b"[" + b",".join(b"%d" % (number + 1) + b"7" * 4190 for number in range(count)) + b"]"


def _large_tool(number: int) -> dict[str, Any]:
    words = [f"w{number}_{index}" for index in range(14_000)]
    return _tool(number, description="x" * 200_000, title=f"{words}"[:190_000])


def _many_values_tool(number: int) -> dict[str, Any]:
    return _tool(number, examples=[[index, {"a": index}] for index in range(19_000)])


def _integers_tool(number: int) -> bytes:
    tool = _tool(number)
    text = _json(tool)
    return text[:-2] + b',"examples":' + _integers(100) + b"}}"


def _sampling(messages: int, items: int, tools: int) -> bytes:
    return _json(
        {
            "maxTokens": 10,
            "tools": [
                {
                    "name": f"t{n}",
                    "inputSchema": {"type": "object", "properties": {f"a{n}": {"type": "string"}}},
                }
                for n in range(tools)
            ],
            "messages": [
                message
                for n in range(messages // 2)
                for message in (
                    {
                        "role": "assistant",
                        "content": [
                            {
                                "type": "tool_use",
                                "id": f"i{n}_{k}",
                                "name": f"t{(n * items + k) % tools}",
                                "input": {f"a{(n * items + k) % tools}": "x"},
                            }
                            for k in range(items)
                        ],
                    },
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "toolUseId": f"i{n}_{k}",
                                "content": [{"type": "text", "text": "x"}],
                            }
                            for k in range(items)
                        ],
                    },
                )
            ],
        }
    )


def _sampling_request(count: int) -> Message:
    params = _sampling(count, 4, max(1, count // 3))
    return protocol_service_pb2.CheckSamplingRequest(
        context=protocol_service_pb2.ProtocolContext(protocol_version="2025-11-25"),
        sampling=protocol_service_pb2.Sampling(params=params),
    )


def _check_batch(count: int) -> Message:
    request = protocol_service_pb2.CheckBatchRequest()
    for number in range(count):
        schema = {"type": "object", "properties": {f"a{number}": {"type": "string"}}}
        params = {
            "maxTokens": 10,
            "tools": [{"name": "t", "inputSchema": schema}],
            "messages": [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "i", "name": "t", "input": {f"a{number}": "x"}}
                    ],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "toolUseId": "i", "content": []}],
                },
            ],
        }
        request.items.add().sampling.params = _json(params)
    return request


_SLOW: Any = {"items": {"anyOf": [*({"const": n, "type": "string"} for n in range(20)), True]}}


def _validate_batch(payload: bytes) -> Callable[[int], Message]:
    def request(count: int) -> Message:
        subject = target_pb2.Subject(arguments=payload)
        return validation_service_pb2.ValidateBatchRequest(
            target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=_json(_SLOW))),
            items=[validation_service_pb2.ValidateItem(subject=subject)] * count,
        )

    return request


def _validate(schema: Any, payload: Callable[[int], bytes]) -> Callable[[int], Message]:
    return lambda count: validation_service_pb2.ValidateRequest(
        target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=_json(schema))),
        subject=target_pb2.Subject(arguments=payload(count)),
    )


def _normalize(count: int) -> Message:
    return protocol_service_pb2.NormalizeToolResultRequest(value=_integers(count))


def _normalize_result(count: int) -> Message:
    result = b'{"content": [], "structuredContent": {"a": %b}}' % _integers(count)
    return protocol_service_pb2.NormalizeToolResultRequest(result=result)


def _convert(make: Callable[[int], Any]) -> Callable[[int], Message]:
    def request(count: int) -> Message:
        return conversion_service_pb2.ConvertToolsRequest(
            api=conversion_service_pb2.MODEL_API_OPENAI_CHAT,
            tools=[
                conversion_service_pb2.ToolToConvert(tool=target_pb2.Target(inline_tool=inline))
                for inline in _inline(list(map(make, range(count))))
            ],
        )

    return request


def _list_tools(count: int, version: str = "2025-06-18") -> Message:
    return registry_service_pb2.ListToolsRequest(
        server="s", page_size=1000, adapt_to_version=version
    )


def _wrapped_tool(number: int) -> dict[str, Any]:
    return {**_tool(number), "outputSchema": {"type": "array", "items": {"type": "string"}}}


def _convert_servers(_: int) -> Message:
    return conversion_service_pb2.ConvertToolsRequest(
        api=conversion_service_pb2.MODEL_API_OPENAI_CHAT, servers=["s"]
    )


def _check_list(count: int) -> Message:
    tools = [_tool(number) for number in range(count)]
    return protocol_service_pb2.CheckToolsRequest(tools_list=_json({"tools": tools}))


def _delete_names(count: int) -> Message:
    return registry_service_pb2.DeleteToolsRequest(server="s", names=[""] * count)


def _documents(count: int) -> Message:
    request = protocol_service_pb2.CheckToolsRequest(tools=_inline([_tool(1)]))
    for number in range(count):
        request.tools[0].documents.add(uri=f"{number}")
    return request


def _capabilities(count: int) -> Message:
    text = _json({f"c{number}": {} for number in range(count)})
    return protocol_service_pb2.CheckMessageRequest(
        context=protocol_service_pb2.ProtocolContext(
            client_capabilities=text, server_capabilities=text
        ),
        message=protocol_service_pb2.ProtocolMessage(json=b"{}"),
    )


def _unknown_tools(count: int) -> Message:
    request = validation_service_pb2.ValidateBatchRequest()
    for number in range(count):
        tool = target_pb2.RegisteredTool(server="s", name=f"tool_{number}_" + "xy" * 30)
        request.items.add(
            target=target_pb2.Target(registered_tool=tool),
            subject=target_pb2.Subject(arguments=b"{}"),
        )
    return request


def _options_of_items(count: int) -> Message:
    """Return items with options of their own, to which the target of the batch applies."""
    request = _validate_batch(b"1")(count)
    assert isinstance(request, validation_service_pb2.ValidateBatchRequest)
    request.target.inline_schema.json = _json({"description": "x" * 250_000})
    for number, item in enumerate(request.items):
        item.options.max_violations = number % 100 + 1
    return request


def _new_schemas_of_items(count: int) -> Message:
    request = validation_service_pb2.ValidateBatchRequest()
    for number in range(count):
        schema = _json({"properties": {f"a{number}": {"type": "string"}}})
        request.items.add(
            target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=schema)),
            subject=target_pb2.Subject(arguments=b"{}"),
        )
    return request


def _delete(_: int) -> Message:
    return registry_service_pb2.DeleteToolsRequest(server="s", all=True)


ATTACKS: Mapping[str, Attack] = {
    "plain names": Attack("CheckToolNames", _names(lambda n: f"name_{n}"), 10_000),
    "odd names": Attack("CheckToolNames", _names(lambda n: f"näme {n} ,."), 10_000),
    "colliding names": Attack(
        "CheckToolNames",
        _names(lambda n: "".join(".-"[n >> bit & 1] for bit in range(14))),
        10_000,
    ),
    "long names": Attack("CheckToolNames", _names(lambda n: f"{n} ä" * 50), 10_000),
    "new tools": Attack("CheckTools", _check_tools(_tool), 9_000),
    "list of new tools": Attack("CheckTools", _check_list, 9_000),
    "tools to register": Attack("RegisterTools", _register(_tool), 9_000),
    "bad tools to register": Attack(
        "RegisterTools", _register(lambda n: {**_tool(n), "inputSchema": {"type": n}}), 10_000
    ),
    "large tools to register": Attack("RegisterTools", _register(_large_tool), 8),
    "large tools of many values to register": Attack(
        "RegisterTools", _register(_many_values_tool), 8
    ),
    "tools of long integers to register": Attack("RegisterTools", _register(_integers_tool), 9),
    "tools of long integers to check": Attack("CheckTools", _check_tools(_integers_tool), 9),
    "integers to normalize": Attack("NormalizeToolResult", _normalize, 230),
    "integers in a result to normalize": Attack("NormalizeToolResult", _normalize_result, 230),
    "integers to validate": Attack("Validate", _validate({"maxItems": 9999}, _integers), 30),
    "integers to reject": Attack(
        "Validate", _validate({"items": {"type": "string"}}, _integers), 30
    ),
    "sampling": Attack("CheckSampling", _sampling_request, 2_400),
    "batch of samplings": Attack("CheckBatch", _check_batch, 3_000),
    "batch of slow payloads": Attack("ValidateBatch", _validate_batch(_json([1] * 180)), 7_000),
    "tools to convert": Attack("ConvertTools", _convert(_tool), 8_000),
    "registered tools to convert": Attack(
        "ConvertTools", _convert_servers, 8_000, lambda n: [("RegisterTools", _register(_tool)(n))]
    ),
    "tools to list": Attack(
        "ListTools",
        _list_tools,
        1_000,
        lambda n: [("RegisterTools", _register(_wrapped_tool, protocol_version="2026-07-28")(n))],
    ),
    "names to delete": Attack("DeleteTools", _delete_names, 2_000_000),
    "documents": Attack("CheckTools", _documents, 300_000),
    "capabilities": Attack("CheckMessage", _capabilities, 70_000),
    "items for unknown tools": Attack(
        "ValidateBatch",
        _unknown_tools,
        10_000,
        lambda _: [("RegisterTools", _register(_tool)(400))],
    ),
    "items with options": Attack("ValidateBatch", _options_of_items, 10_000),
    "items with new schemas": Attack("ValidateBatch", _new_schemas_of_items, 10_000),
    "tools to delete": Attack(
        "DeleteTools", _delete, 9_000, lambda n: [("RegisterTools", _register(_tool)(n))]
    ),
}
"""The attacks, by what they have many of."""
