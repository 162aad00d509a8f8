"""Attacks on the transport: floods, unfinished requests and unread responses.

Each takes a running server and its duration in seconds, and returns counts of observations.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from typing import Any

import grpc
from resilience.http2 import GOAWAY, Peer, announce
from resilience.scene import Attack
from sidecheck.v1 import protocol_service_pb2, registry_service_pb2, target_pb2
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from support.running import RunningServer

__all__ = ["TRANSPORT_ATTACKS"]

_VALIDATE = "/sidecheck.v1.ValidationService/Validate"
_STREAM = "/sidecheck.v1.ValidationService/ValidateStream"
_LIST = "/sidecheck.v1.RegistryService/ListTools"
_UNKNOWN = "/sidecheck.v1.ValidationService/Nothing"
_MESSAGE_BYTES = 4 << 20
_MANY = 200


def _read_no_answers(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """List large tools on many streams without a window for the responses."""
    description = "x" * 200_000
    with grpc.insecure_channel(server.address) as channel:
        registry: Any = RegistryServiceStub(channel)
        for number in range(6):
            tool = {"name": f"t{number}", "description": description, "inputSchema": {}}
            tool["inputSchema"] = {"type": "object"}
            text = target_pb2.InlineTool(json=json.dumps(tool).encode())
            request = registry_service_pb2.RegisterToolsRequest(server="large", tools=[text])
            registry.RegisterTools(request)
    message = registry_service_pb2.ListToolsRequest(server="large").SerializeToString()
    body = announce(len(message)) + message
    end = time.monotonic() + seconds
    peers, calls = [], 0
    while time.monotonic() < end and calls < _MANY * 10:
        peer = Peer(server.address, window=0)
        peers.append(peer)
        for _ in range(_MANY):
            peer.call(_LIST, body)
            calls += 1
        peer.receive()
    time.sleep(max(0.0, end - time.monotonic()))
    for peer in peers:
        peer.close()
    return {"calls": calls}


def _finish_no_message(path: str, server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Announce the largest message on many streams, and send all but its last bytes."""
    end = time.monotonic() + seconds
    part = bytes(_MESSAGE_BYTES - 5 - 16_384)
    peers, sent = [], 0
    while time.monotonic() < end and sent < _MANY:
        peer = Peer(server.address)
        peers.append(peer)
        peer.receive()
        streams = [peer.call(path, announce(_MESSAGE_BYTES), end=False) for _ in range(15)]
        with suppress(OSError):
            for stream in streams:
                sent += peer.send(stream, part)
                if time.monotonic() > end:
                    break
    time.sleep(max(0.0, end - time.monotonic()))
    for peer in peers:
        peer.close()
    return {"messages": sent}


def _reset_rapidly(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Cancel each call as soon as it has begun (CVE-2023-44487)."""
    end = time.monotonic() + seconds
    calls, connections = 0, 1
    peer = Peer(server.address)
    while time.monotonic() < end:
        try:
            for _ in range(_MANY):
                peer.reset(peer.call(_VALIDATE, announce(0)))
                calls += 1
            peer.receive(0.001)
        except OSError:
            connections += 1
            peer = Peer(server.address)
        if peer.frames[GOAWAY]:
            peer.close()
            connections += 1
            peer = Peer(server.address)
    peer.close()
    return {"calls": calls, "connections": connections}


def _call_unknown_methods(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Call a method that does not exist, from four channels with 50 callers each."""
    return asyncio.run(_call_constantly(server.address, _UNKNOWN, seconds, None))


def _call_with_short_deadlines(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Make more calls than the server can answer in time."""
    return asyncio.run(_call_constantly(server.address, _VALIDATE, seconds, 0.02))


async def _call_constantly(
    address: str, path: str, seconds: float, deadline: float | None
) -> Mapping[str, int]:
    end = time.monotonic() + seconds
    statuses: Counter[str] = Counter()

    async def call_repeatedly(channel: grpc.aio.Channel) -> None:
        method: Any = channel.unary_unary(path)
        while time.monotonic() < end:
            try:
                await method(b"", timeout=deadline)
            except grpc.aio.AioRpcError as error:
                statuses[error.code().name] += 1

    local = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.aio.insecure_channel(address, options=local) for _ in range(4)]
    await asyncio.gather(*(call_repeatedly(channel) for channel in channels for _ in range(50)))
    await asyncio.gather(*(channel.close() for channel in channels))
    return statuses


def _connect_and_leave(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Connect, begin a call and leave, again and again."""
    end = time.monotonic() + seconds
    connections = 0
    while time.monotonic() < end:
        with suppress(OSError), closing(Peer(server.address)) as peer:
            peer.call(_VALIDATE, announce(0))
        connections += 1
    return {"connections": connections}


def _connect_and_stay(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Open more connections than the server admits, and send nothing."""
    with ExitStack() as stack:
        with suppress(OSError):
            for _ in range(_MANY):
                stack.enter_context(closing(Peer(server.address)))
        time.sleep(seconds)
    return {"connections": _MANY}


def _flood_pings(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Send pings without pause, and keep the socket open after GOAWAY."""
    end = time.monotonic() + seconds
    pings = goaways = 0
    while time.monotonic() < end:
        peer = Peer(server.address)
        with suppress(OSError):
            while time.monotonic() < end and not peer.frames[GOAWAY]:
                peer.ping(_MANY)
                pings += _MANY
                peer.receive(0.001)
        goaways += peer.frames[GOAWAY] > 0
        peer.close()
    return {"pings": pings, "goaways": goaways}


def _remember_much(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Open more sessions than the server admits, and list large tools in each."""
    schema = {"type": "object", "description": "x" * 100_000}
    session = protocol_service_pb2.CheckSessionRequest
    end = time.monotonic() + seconds
    statuses: Counter[str] = Counter()

    async def fill(stub: Any) -> None:
        call = stub.CheckSession()
        try:
            for turn in range(200):
                if time.monotonic() > end:
                    break
                call_id = f"{turn}"
                for text in (
                    {"method": "tools/list"},
                    {
                        "result": {
                            "tools": [
                                {"name": f"t{turn}-{number}", "inputSchema": schema}
                                for number in range(8)
                            ]
                        }
                    },
                ):
                    message = json.dumps({"jsonrpc": "2.0", "id": call_id, **text}).encode()
                    item = protocol_service_pb2.SessionItem(
                        message=protocol_service_pb2.ProtocolMessage(json=message)
                    )
                    await call.write(session(item=item))
                    await call.read()
                    statuses["answers"] += 1
            await asyncio.sleep(max(0.0, end - time.monotonic()))
            call.cancel()
        except grpc.aio.AioRpcError:
            # A failed write reports INTERNAL (grpc/grpc#36066); the call has the real status.
            statuses[(await call.code()).name] += 1

    async def run() -> None:
        local = [("grpc.use_local_subchannel_pool", 1)]
        channels = [grpc.aio.insecure_channel(server.address, options=local) for _ in range(4)]
        stubs: list[Any] = [ProtocolServiceStub(channel) for channel in channels]
        await asyncio.gather(*(fill(stubs[number % 4]) for number in range(40)))
        await asyncio.gather(*(channel.close() for channel in channels))

    asyncio.run(run())
    return statuses


TRANSPORT_ATTACKS = (
    Attack("unread answers", "answers stay in memory until they are read", _read_no_answers),
    Attack(
        "unfinished requests",
        "a message is in memory before it is whole",
        lambda server, seconds: _finish_no_message(_VALIDATE, server, seconds),
    ),
    Attack(
        "unfinished messages of streams",
        "a stream may wait for its next message",
        lambda server, seconds: _finish_no_message(_STREAM, server, seconds),
    ),
    Attack("rapid reset", "the server begins each call before its cancellation", _reset_rapidly),
    Attack("unknown methods", "no handler can shed them", _call_unknown_methods),
    Attack("short deadlines", "work for a caller that is gone", _call_with_short_deadlines),
    Attack(
        "churn of connections",
        "each costs a handshake",
        _connect_and_leave,
        # gRPC limits no rate of connections, and cancels calls when its queue is full.
        statuses=frozenset({"OK", "CANCELLED", "UNAVAILABLE"}),
    ),
    Attack("idle connections", "each takes memory and counts for the limit", _connect_and_stay),
    Attack("ping flood", "each ping has an answer", _flood_pings),
    Attack("many sessions", "sessions remember messages", _remember_much),
)
