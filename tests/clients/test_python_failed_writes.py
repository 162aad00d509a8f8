"""Streams of the asynchronous client that end while an item is written."""

from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import grpc
import grpc.aio
from sidecheck._transport.task_calls import WRITE_FAILED, Channel, StreamCall
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


async def test_a_failed_write_is_no_error_of_a_stream_that_ended_well() -> None:
    """The server's status decides: there are no more responses."""
    call = StreamCall(Channel("localhost:1"), STREAMS[0], cast("Any", EndedCall()))
    assert await call.read() is None
