"""Requests within the limits that would hold the event loop, or the service, for long.

``python -m resilience.turns``, from the folder ``tests``, sends each in full to a server of
its own and prints the longest turn of the event loop, the processor time of all turns, and
that of the workers.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
import psutil
from google.protobuf.message import Message
from resilience.measured_loop import MeasuredServer, run_beside_server
from sidecheck.v1 import (
    conversion_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
)
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub

__all__ = ["ATTACKS", "Attack", "Turns", "attack_with", "main", "stub_of"]

_TIMEOUT = 600.0


@dataclass(frozen=True, slots=True)
class Attack:
    """One request, made for a count of whatever it has many of."""

    method: str
    request: Callable[[int], Message]
    #: The count of the largest request within the limits.
    full: int
    #: Requests whose effects the attack builds on, for the same count.
    before: Callable[[int], list[tuple[str, Message]]] = lambda _: []


@dataclass(frozen=True, slots=True)
class Turns:
    """What a request took, in seconds of processor time."""

    #: The longest turn of the event loop, and all of them.
    longest: float
    loop: float
    #: The worker processes.
    workers: float
    #: From the request to the response, by the clock.
    elapsed: float


def stub_of(server: MeasuredServer, method: str) -> Any:
    """Return the multicallable of *method*, whichever service has it."""
    for stub in _STUBS:
        call = getattr(stub(server.channel), method, None)
        if call is not None:
            return call
    raise LookupError(method)


_STUBS = (ConversionServiceStub, ProtocolServiceStub, RegistryServiceStub, ValidationServiceStub)


def attack_with(server: MeasuredServer, attack: Attack, count: int) -> tuple[Turns, Any]:
    """Send the request of *attack* for *count* to *server*; return what it took, and the response.

    A failed call counts as a response.
    """
    for method, message in attack.before(count):
        stub_of(server, method)(message, timeout=_TIMEOUT)
    request = attack.request(count)
    call = stub_of(server, attack.method)
    workers = psutil.Process().children()
    before, began = _processor_seconds(workers), time.perf_counter()
    server.loop.reset()
    response: Any
    try:
        response = call(request, timeout=_TIMEOUT)
    except grpc.RpcError as error:
        response = error
    elapsed = time.perf_counter() - began
    loop = server.loop
    took = Turns(loop.longest, loop.total, _processor_seconds(workers) - before, elapsed)
    return took, response


def _processor_seconds(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


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
    "batch of slow payloads": Attack("ValidateBatch", _validate_batch(_json([1] * 200)), 10_000),
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
    "tools to delete": Attack(
        "DeleteTools", _delete, 9_000, lambda n: [("RegisterTools", _register(_tool)(n))]
    ),
}
"""The attacks, by what they have many of."""


def main() -> int:
    """Run the attacks as the command line says."""
    parser = argparse.ArgumentParser(prog="resilience.turns")
    parser.add_argument("--only", default="", help="attacks with this in their names")
    parser.add_argument("--limit", action="append", default=[], help="NAME=NUMBER, a limit")
    arguments = parser.parse_args()
    limits = {name: int(value) for name, value in (pair.split("=") for pair in arguments.limit)}
    print("longest turn, all turns, workers, elapsed (ms)")
    for name, attack in ATTACKS.items():
        if arguments.only not in name:
            continue
        turns, response = run_beside_server(
            lambda server, attack=attack: attack_with(server, attack, attack.full), **limits
        )
        status = "" if isinstance(response, Message) else f" {response.details()[:90]}"
        figures = (turns.longest, turns.loop, turns.workers, turns.elapsed)
        print(
            " ".join(f"{1000 * figure:8.0f}" for figure in figures), f"{name}{status}", flush=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
