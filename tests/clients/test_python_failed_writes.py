"""Streams of the asynchronous client that end while an item is written."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, cast

import grpc
import grpc.aio
import pytest
from sidecheck._transport.task_calls import WRITE_FAILED, Channel, StreamCall
from sidecheck.errors import Unavailable
from sidecheck.wire.rpcs import STREAMS

NO_METADATA = grpc.aio.Metadata()


class EndedCall:
    """A call that the server ended well, and whose reads report that a write has failed."""

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        callback(self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        raise grpc.aio.AioRpcError(
            grpc.StatusCode.INTERNAL, NO_METADATA, NO_METADATA, details=WRITE_FAILED
        )
        yield b""

    async def initial_metadata(self) -> grpc.aio.Metadata:
        return NO_METADATA

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        return NO_METADATA

    async def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.OK

    async def details(self) -> str:
        return ""


async def test_a_failed_write_does_not_fail_a_completed_stream() -> None:
    """The server's status decides: there are no more responses."""
    call = StreamCall(Channel("localhost:1"), STREAMS[0], cast("Any", EndedCall()))
    assert await call.read() is None


class LostCall(EndedCall):
    """A call whose status never arrives."""

    async def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.INTERNAL

    async def details(self) -> str:
        return WRITE_FAILED


async def test_a_failed_write_without_a_status_is_an_unavailable_server() -> None:
    """INTERNAL would be a fault of the server."""
    call = StreamCall(Channel("localhost:1"), STREAMS[0], cast("Any", LostCall()))
    with pytest.raises(Unavailable) as raised:
        await call.read()

    assert ("UNAVAILABLE", grpc.StatusCode.UNAVAILABLE) == (
        raised.value.reason,
        raised.value.status,
    )


async def test_grpc_reports_a_failed_write_by_the_known_details() -> None:
    """The text is no interface; a release with another one fails this."""

    async def end(_requests: Any, _context: Any) -> AsyncIterator[bytes]:
        return
        yield b""

    server = grpc.aio.server()
    handler: Any = grpc.stream_stream_rpc_method_handler(end)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("a.Service", {"End": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    details: set[str | None] = set()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        start: Any = channel.stream_stream("/a.Service/End")
        # Whether the end of the call or the write comes first is up to chance.
        for _ in range(5000):
            call: Any = start()
            with suppress(grpc.RpcError, asyncio.InvalidStateError):
                while True:
                    await call.write(b"x" * 100_000)
            if await call.code() is not grpc.StatusCode.OK:
                details.add(await call.details())
                break
    await server.stop(None)

    assert {WRITE_FAILED} == details
