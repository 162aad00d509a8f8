"""Attacks on the clients: a server that freezes while they use it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from sidecheck import Arguments, BlockingClient, Client, Item, Schema, SidecheckError
from support.running import RunningServer

__all__ = ["ACTIONS", "freeze_async_stream", "freeze_blocking_stream", "frozen"]

#: Actions on a stream while the server is frozen: wait for an outcome, send more items than
#: may be outstanding without reading, or leave the stream.
ACTIONS = ("read", "send", "leave")

OUTSTANDING = 2
ITEM = Item(Arguments(1))
TARGET = Schema(b"true")


@contextmanager
def frozen(server: RunningServer) -> Iterator[None]:
    """Stop the process of *server*, whose connections stay open, and continue it."""
    server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


def freeze_blocking_stream(
    server: RunningServer, action: str, seconds: float
) -> SidecheckError | None:
    """Return the error, if any, of *action* on a stream with a deadline in *seconds*."""
    try:
        with (
            BlockingClient(server.address, timeout=seconds) as client,
            client.stream(target=TARGET, outstanding=OUTSTANDING, timeout=seconds) as stream,
            frozen(server),
        ):
            stream.send("0", ITEM)
            if action == "read":
                next(stream)
            elif action == "send":
                for index in range(OUTSTANDING):
                    stream.send(str(index + 1), ITEM)
    except SidecheckError as error:
        return error
    return None


async def freeze_async_stream(
    server: RunningServer, action: str, seconds: float
) -> SidecheckError | None:
    """Return the error, if any, of *action* on a stream with a deadline in *seconds*."""
    try:
        async with (
            Client(server.address, timeout=seconds) as client,
            client.stream(target=TARGET, outstanding=OUTSTANDING, timeout=seconds) as stream,
        ):
            with frozen(server):
                await stream.send("0", ITEM)
                if action == "read":
                    await anext(stream)
                elif action == "send":
                    for index in range(OUTSTANDING):
                        await stream.send(str(index + 1), ITEM)
    except SidecheckError as error:
        return error
    return None
