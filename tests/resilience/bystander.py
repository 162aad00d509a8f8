"""Client that makes a small call every 10 ms during an attack, and records each result.

``python -m resilience.bystander ADDRESS`` prints "ready", calls until its standard input
is closed, and prints as JSON the number of calls by status, and the latency of each call from
its due time in milliseconds. It is a process of its own, so that it shares no interpreter
with the attacker. It has the channel of the Python client, which retries UNAVAILABLE.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from typing import Any

import grpc
from sidecheck._transport.channels import channel_options
from sidecheck.v1 import registry_service_pb2, target_pb2, validation_service_pb2
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub

__all__ = ["main"]

_PERIOD_SECONDS = 0.01
_DEADLINE_SECONDS = 300.0
_SERVER, _NAME = "bystander", "small"
_TOOL = {
    "name": _NAME,
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
        "required": ["query"],
        "additionalProperties": False,
    },
}
_REQUEST = validation_service_pb2.ValidateRequest(
    target=target_pb2.Target(registered_tool=target_pb2.RegisteredTool(server=_SERVER, name=_NAME)),
    subject=target_pb2.Subject(arguments=b'{"query": "x", "limit": 10}'),
)


async def _call_until(channel: grpc.aio.Channel, end: "asyncio.Future[Any]") -> dict[str, Any]:
    stub: Any = ValidationServiceStub(channel)
    statuses: Counter[str] = Counter()
    milliseconds: list[float] = []

    async def call(due: float) -> None:
        try:
            response = await stub.Validate(_REQUEST, timeout=_DEADLINE_SECONDS)
            statuses["OK" if response.verdict.valid else "INVALID"] += 1
        except grpc.aio.AioRpcError as error:
            statuses[error.code().name] += 1
        milliseconds.append((time.perf_counter() - due) * 1000)

    calls: set[asyncio.Task[None]] = set()
    due = time.perf_counter()
    while not end.done():
        due += _PERIOD_SECONDS
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        task = asyncio.create_task(call(due))
        calls.add(task)
        task.add_done_callback(calls.discard)
    answered_before_end = len(milliseconds)
    await asyncio.gather(*calls)
    return {
        "statuses": statuses,
        "answered_before_end": answered_before_end,
        "milliseconds": [round(latency, 2) for latency in milliseconds],
    }


async def _run(address: str) -> None:
    loop = asyncio.get_running_loop()
    async with grpc.aio.insecure_channel(address, channel_options(address)) as channel:
        registry: Any = RegistryServiceStub(channel)
        tool = target_pb2.InlineTool(json=json.dumps(_TOOL).encode())
        await registry.RegisterTools(
            registry_service_pb2.RegisterToolsRequest(server=_SERVER, tools=[tool])
        )
        validate: Any = ValidationServiceStub(channel).Validate
        assert (await validate(_REQUEST)).verdict.valid
        print("ready", flush=True)
        end = loop.run_in_executor(None, sys.stdin.read)
        print(json.dumps(await _call_until(channel, end)), flush=True)


def main() -> None:
    """Call until standard input is closed."""
    asyncio.run(_run(sys.argv[1]))


if __name__ == "__main__":
    main()
