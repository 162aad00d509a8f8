# Generated from sidecheck/_async by generate_blocking.py. Do not edit.
"""A watch of registered tools that resumes after a lost connection."""

from collections.abc import Generator, Sequence

from sidecheck._transport.reconnection import Reconnection
from sidecheck._transport.threads import Transport, TransportStream, sleep
from sidecheck.errors import Unavailable
from sidecheck.watching import Checkpoint, ToolsChange, WatchEvent
from sidecheck.wire.rpcs import find_rpc
from sidecheck.wire.watching import WatchDecoder, encode_watch

__all__ = ["watch_tools"]


def watch_tools(
    transport: Transport, servers: Sequence[str], after: Checkpoint | None, patience: float
) -> Generator[WatchEvent, None]:
    """Yield the events after *after*; see `BlockingClient.watch`."""
    reconnection = Reconnection(patience)
    while True:
        request = encode_watch(servers, after)
        call = transport.stream(find_rpc(type(request)), None)
        decoder = WatchDecoder()
        try:
            call.write(request)
            call.finish()
            while (event := read_event(call, decoder)) is not None:
                after = event.checkpoint if isinstance(event, ToolsChange) else event
                yield event
                reconnection.note_event()
            failure = Unavailable("UNAVAILABLE", "the server ended the stream")
        except Unavailable as error:
            failure = error
        finally:
            call.cancel()
        sleep(reconnection.next_pause(failure))


def read_event(call: TransportStream, decoder: WatchDecoder) -> WatchEvent | None:
    """Return the next event of *call*, or None after the last.

    Raises:
        SidecheckError: The call failed.
    """
    while (response := call.read()) is not None:
        event = decoder.decode(response)
        if event is not None:
            return event
    return None
