"""Streams beyond the limits of a real server."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck.v1.protocol_service_pb2 import CheckSessionRequest, SessionItem
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.validation_service_pb2 import StreamItem, ValidateStreamRequest
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.wire import info_of


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """Server that admits three streams, of which one is a session."""
    server = RunningServer(
        tmp_path, SIDECHECK_TRANSPORT__STREAMS="3", SIDECHECK_TRANSPORT__SESSIONS="1"
    )
    yield server
    server.close()


async def open_stream(channel: grpc.aio.Channel, kind: str) -> tuple[Any, str]:
    """Open a stream of *kind*; return it, with "open" or the bound of its error."""
    stub: Any
    request: Any
    if kind == "sessions":
        stub = ProtocolServiceStub(channel)
        call, request = stub.CheckSession(), CheckSessionRequest(item=SessionItem())
    else:
        stub = ValidationServiceStub(channel)
        call, request = stub.ValidateStream(), ValidateStreamRequest(item=StreamItem())
    # A write that fails because the stream has ended has a status of its own (grpc/grpc#36066).
    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
        await call.write(request)
    try:
        await call.read()
    except grpc.aio.AioRpcError:
        trailers: dict[str, Any] = dict(await call.trailing_metadata() or ())
        info = info_of(Status.FromString(trailers["grpc-status-details-bin"]))
        return call, f"{info.reason} {info.metadata['bound']}"
    return call, "open"


async def test_streams_beyond_a_limit_are_shed_until_others_end(server: RunningServer) -> None:
    """Sessions have a limit of their own; a stream that is shed takes no place."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        kinds = ("sessions", "sessions", "streams", "streams", "streams", "streams")
        opened = [await open_stream(channel, kind) for kind in kinds]
        for call in (opened[0][0], opened[2][0]):
            await call.done_writing()
            assert await call.read() is grpc.aio.EOF
        later = [(await open_stream(channel, kind))[1] for kind in kinds[:4]]
    shed = server.wait_for("overload.shed")

    assert [
        "open",
        "OVERLOADED sessions",
        "open",
        "open",
        "OVERLOADED streams",
        "OVERLOADED streams",
    ] == [outcome for _, outcome in opened]
    assert ["open", "OVERLOADED sessions", "open", "OVERLOADED streams"] == later
    assert "sessions" in shed["calls"]
