"""HTTP servers in an event loop, and the sockets that they listen on."""

import asyncio
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn

__all__ = ["HttpServer", "open_listener"]

_BACKLOG = 2048


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens on *host* and *port*, so that whoever is told can connect.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off the delay of small segments only where the protocol is named. With it, a
    # response of several writes waits 40 milliseconds for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


class HttpServer(uvicorn.Server):
    """A server that ends by *signals* only, and lets the process go on afterwards.

    Without *signals* they are left to the code around the server. uvicorn itself takes SIGINT
    and SIGTERM, and raises them again once it has ended; its method that does so is replaced.
    """

    def __init__(self, config: uvicorn.Config, signals: Sequence[signal.Signals] = ()) -> None:
        super().__init__(config)
        self._signals = signals

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End at the first signal in the block; at a second one, do not wait for requests."""
        loop = asyncio.get_running_loop()
        for number in self._signals:
            loop.add_signal_handler(number, self._end)
        try:
            yield
        finally:
            for number in self._signals:
                loop.remove_signal_handler(number)

    def _end(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
