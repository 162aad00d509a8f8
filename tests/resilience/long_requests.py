"""Requests within the limits that take much work of the event loop or of the service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from resilience.long_texts import (
    integers_tool,
    json_text,
    large_tool,
    long_integers,
    many_values_tool,
    sampling_params,
    tool,
    wrapped_tool,
)
from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
)

__all__ = ["LONG_REQUESTS", "LongRequest"]


@dataclass(frozen=True, slots=True)
class LongRequest:
    """A request of variable size."""

    method: str
    #: The request with the given number of elements.
    request: Callable[[int], Message]
    #: The number of elements of the largest request within the limits.
    full: int
    #: Requests to send before, for the same number of elements.
    before: Callable[[int], list[tuple[str, Message]]] = lambda _: []


def _inline(tools: list[Any]) -> list[target_pb2.InlineTool]:
    texts = (tool if isinstance(tool, bytes) else json_text(tool) for tool in tools)
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


def _sampling_request(count: int) -> Message:
    params = sampling_params(count, 4, max(1, count // 3))
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
        request.items.add().sampling.params = json_text(params)
    return request


_SLOW: Any = {"items": {"anyOf": [*({"const": n, "type": "string"} for n in range(20)), True]}}


def _validate_batch(payload: bytes) -> Callable[[int], Message]:
    def request(count: int) -> Message:
        subject = target_pb2.Subject(arguments=payload)
        return validation_service_pb2.ValidateBatchRequest(
            target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=json_text(_SLOW))),
            items=[validation_service_pb2.ValidateItem(subject=subject)] * count,
        )

    return request


def _validate(schema: Any, payload: Callable[[int], bytes]) -> Callable[[int], Message]:
    return lambda count: validation_service_pb2.ValidateRequest(
        target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=json_text(schema))),
        subject=target_pb2.Subject(arguments=payload(count)),
    )


def _normalize(count: int) -> Message:
    return protocol_service_pb2.NormalizeToolResultRequest(value=long_integers(count))


def _normalize_result(count: int) -> Message:
    result = b'{"content": [], "structuredContent": {"a": %b}}' % long_integers(count)
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


def _convert_servers(_: int) -> Message:
    return conversion_service_pb2.ConvertToolsRequest(
        api=conversion_service_pb2.MODEL_API_OPENAI_CHAT, servers=["s"]
    )


def _check_list(count: int) -> Message:
    tools = [tool(number) for number in range(count)]
    return protocol_service_pb2.CheckToolsRequest(tools_list=json_text({"tools": tools}))


def _delete_names(count: int) -> Message:
    return registry_service_pb2.DeleteToolsRequest(server="s", names=[""] * count)


def _documents(count: int) -> Message:
    request = protocol_service_pb2.CheckToolsRequest(tools=_inline([tool(1)]))
    for number in range(count):
        request.tools[0].documents.add(uri=f"{number}")
    return request


def _capabilities(count: int) -> Message:
    text = json_text({f"c{number}": {} for number in range(count)})
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
    request.target.inline_schema.json = json_text({"description": "x" * 250_000})
    for number, item in enumerate(request.items):
        item.options.max_violations = number % 100 + 1
    return request


def _new_schemas_of_items(count: int) -> Message:
    request = validation_service_pb2.ValidateBatchRequest()
    for number in range(count):
        schema = json_text({"properties": {f"a{number}": {"type": "string"}}})
        request.items.add(
            target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=schema)),
            subject=target_pb2.Subject(arguments=b"{}"),
        )
    return request


def _delete(_: int) -> Message:
    return registry_service_pb2.DeleteToolsRequest(server="s", all=True)


LONG_REQUESTS: Mapping[str, LongRequest] = {
    "plain names": LongRequest("CheckToolNames", _names(lambda n: f"name_{n}"), 10_000),
    "odd names": LongRequest("CheckToolNames", _names(lambda n: f"näme {n} ,."), 10_000),
    "colliding names": LongRequest(
        "CheckToolNames",
        _names(lambda n: "".join(".-"[n >> bit & 1] for bit in range(14))),
        10_000,
    ),
    "long names": LongRequest("CheckToolNames", _names(lambda n: f"{n} ä" * 50), 10_000),
    "new tools": LongRequest("CheckTools", _check_tools(tool), 9_000),
    "list of new tools": LongRequest("CheckTools", _check_list, 9_000),
    "tools to register": LongRequest("RegisterTools", _register(tool), 9_000),
    "bad tools to register": LongRequest(
        "RegisterTools", _register(lambda n: {**tool(n), "inputSchema": {"type": n}}), 10_000
    ),
    "large tools to register": LongRequest("RegisterTools", _register(large_tool), 8),
    "large tools of many values to register": LongRequest(
        "RegisterTools", _register(many_values_tool), 8
    ),
    "tools of long integers to register": LongRequest("RegisterTools", _register(integers_tool), 9),
    "tools of long integers to check": LongRequest("CheckTools", _check_tools(integers_tool), 9),
    "integers to normalize": LongRequest("NormalizeToolResult", _normalize, 230),
    "integers in a result to normalize": LongRequest("NormalizeToolResult", _normalize_result, 230),
    "integers to validate": LongRequest(
        "Validate", _validate({"maxItems": 9999}, long_integers), 30
    ),
    "integers to reject": LongRequest(
        "Validate", _validate({"items": {"type": "string"}}, long_integers), 30
    ),
    "sampling": LongRequest("CheckSampling", _sampling_request, 2_400),
    "batch of samplings": LongRequest("CheckBatch", _check_batch, 3_000),
    "batch of slow payloads": LongRequest(
        "ValidateBatch", _validate_batch(json_text([1] * 180)), 7_000
    ),
    "tools to convert": LongRequest("ConvertTools", _convert(tool), 8_000),
    "registered tools to convert": LongRequest(
        "ConvertTools", _convert_servers, 8_000, lambda n: [("RegisterTools", _register(tool)(n))]
    ),
    "tools to list": LongRequest(
        "ListTools",
        _list_tools,
        1_000,
        lambda n: [("RegisterTools", _register(wrapped_tool, protocol_version="2026-07-28")(n))],
    ),
    "names to delete": LongRequest("DeleteTools", _delete_names, 2_000_000),
    "names of functions": LongRequest(
        "InferTools",
        lambda count: inference_service_pb2.InferToolsRequest(functions=["f"] * count),
        1_300_000,
    ),
    "documents": LongRequest("CheckTools", _documents, 300_000),
    "capabilities": LongRequest("CheckMessage", _capabilities, 70_000),
    "items for unknown tools": LongRequest(
        "ValidateBatch",
        _unknown_tools,
        10_000,
        lambda _: [("RegisterTools", _register(tool)(400))],
    ),
    "items with options": LongRequest("ValidateBatch", _options_of_items, 10_000),
    "items with new schemas": LongRequest("ValidateBatch", _new_schemas_of_items, 10_000),
    "tools to delete": LongRequest(
        "DeleteTools", _delete, 9_000, lambda n: [("RegisterTools", _register(tool)(n))]
    ),
}
"""The requests by the name of their elements."""
