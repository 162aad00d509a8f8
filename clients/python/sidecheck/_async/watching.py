"""A watch of registered tools, which goes on after a lost connection."""

from collections.abc import AsyncGenerator, Sequence
from random import uniform
from time import monotonic
from typing import Final

import grpc

from sidecheck._transport.tasks import Transport, TransportStream, sleep
from sidecheck.errors import Unavailable
from sidecheck.watching import Checkpoint, ToolsChange, WatchEvent
from sidecheck.wire.rpcs import find_rpc
from sidecheck.wire.watching import WatchDecoder, encode_watch

__all__ = ["watch_tools"]

#: Seconds between two attempts to connect: they double, up to the longest.
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0

#: What another attempt would end with, too.
LASTING: Final = frozenset(
    {
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)


async def watch_tools(
    transport: Transport, servers: Sequence[str], after: Checkpoint | None, patience: float
) -> AsyncGenerator[WatchEvent, None]:
    """Yield the events after *after*; see `Client.watch`."""
    heard = monotonic()
    pause = FIRST_PAUSE
    while True:
        request = encode_watch(servers, after)
        call = transport.stream(find_rpc(type(request)), None)
        decoder = WatchDecoder()
        try:
            await call.write(request)
            await call.finish()
            while (event := await read_event(call, decoder)) is not None:
                after = event.checkpoint if isinstance(event, ToolsChange) else event
                yield event
                heard, pause = monotonic(), FIRST_PAUSE
            lost = Unavailable("UNAVAILABLE", "the server ended the stream")
        except Unavailable as error:
            lost = error
        finally:
            call.cancel()
        delay = max(lost.retry_after or 0.0, uniform(pause / 2, pause))  # noqa: S311
        if lost.status in LASTING or monotonic() - heard + delay > patience:
            raise lost
        await sleep(delay)
        pause = min(2 * pause, LONGEST_PAUSE)


async def read_event(call: TransportStream, decoder: WatchDecoder) -> WatchEvent | None:
    """Return the next event of *call*, None after the last.

    Raises:
        SidecheckError: The call failed.
    """
    while (response := await call.read()) is not None:
        event = decoder.decode(response)
        if event is not None:
            return event
    return None
