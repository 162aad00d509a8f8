"""Server of a stdio client: a process, or a remote server in its place."""

from typing import Protocol

from sidecheck_server.proxy.stdio.pipes import Reader, Writer

__all__ = ["ServerEndpoint"]


class ServerEndpoint(Protocol):
    """Connection to one server, which `StdioProxy` relays."""

    @property
    def reader(self) -> Reader:
        """Messages of the server, one per line; b"" when no more can come."""
        ...

    @property
    def writer(self) -> Writer:
        """Messages to the server, one per line; closed at the end of the client's input."""
        ...

    async def wait(self) -> int:
        """Return the exit code as soon as the server has ended; negative for a signal.

        The output may have unread bytes then. Any number of tasks may wait.
        """
        ...

    def send_signal(self, number: int) -> None:
        """Pass on a signal that the proxy got; do nothing if the server has ended."""
        ...

    async def end(self) -> None:
        """End the server, gently and then by force; do nothing if it has ended."""
        ...
