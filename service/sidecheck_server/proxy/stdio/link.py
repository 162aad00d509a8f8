"""Both ends of a proxy over stdio, and its report on output that is not a message."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from sidecheck_server.core.types import Severity
from sidecheck_server.proxy.messages import Direction
from sidecheck_server.proxy.report import Action, Finding, Findings
from sidecheck_server.proxy.rulings.listing_pages import ListTools
from sidecheck_server.proxy.rulings.session import ProxySession
from sidecheck_server.proxy.stdio.endpoint import ServerEndpoint
from sidecheck_server.proxy.stdio.line_messages import Unit
from sidecheck_server.proxy.stdio.pipes import LineReader, Reader, Writer
from sidecheck_server.proxy.transcript import Transcript

__all__ = ["ENDED", "FRAMING", "Link", "OpenSession", "Relay"]

#: Opens the session of a connection, given what lists the tools of its server. This may take
#: seconds, so it must not block the event loop.
OpenSession: TypeAlias = Callable[[ListTools], AbstractAsyncContextManager[ProxySession]]

ENDED = "the server ended the connection before it responded"

FRAMING = b"content-length:"
"""Start of a line, in lower case, by which language servers frame their messages."""

_KINDS = {
    "text": "a line of {size:,} bytes is not a message; messages are JSON-RPC, one in a line",
    "json": 'JSON text of {size:,} bytes without "jsonrpc": "2.0" is not a message',
    "inside": "a line of {size:,} bytes has a message inside, but other text before it",
}
"""Kinds of lines of a server that are not messages."""


class Relay(Protocol):
    """One of the two ways to relay: to observe messages, or to decide on them."""

    @property
    def is_busy(self) -> bool:
        """Whether lines were read that have not been written."""
        ...

    @property
    def client_lines(self) -> int:
        """Number of lines, or of chunks, that the client has sent."""
        ...

    async def relay_client(self) -> None:
        """Relay the input of the client until its end; then close that of the server."""
        ...

    async def relay_server(self) -> None:
        """Relay the output of the server until its end.

        Raises:
            OSError: the client is gone.
        """
        ...

    async def end_server(self) -> None:
        """Answer open requests with errors, now and from now on: the server has ended."""
        ...

    async def finish(self) -> None:
        """Complete the report, after the last message."""
        ...

    def hurry(self) -> None:
        """Do not wait long for the rest of the report."""
        ...


@dataclass(slots=True)
class Link:
    """Client and server of a proxy, and its outputs."""

    server: ServerEndpoint
    from_client: Reader
    to_client: Writer
    report: Findings
    transcript: Transcript | None
    max_bytes: int
    from_server: LineReader = field(init=False)
    #: Lines of the server that are not messages, by kind.
    _stray: Counter[tuple[str, Action]] = field(default_factory=Counter)
    _is_multiline_reported: bool = False
    _is_mark_reported: bool = False

    def __post_init__(self) -> None:
        self.from_server = LineReader(self.server.reader, self.max_bytes)

    @property
    def to_server(self) -> Writer:
        """Writer to the server."""
        return self.server.writer

    def record(self, text: bytes, sender: Direction) -> None:
        """Write the message *text* to the transcript."""
        if self.transcript is not None:
            self.transcript.write(text, sender)

    def add(
        self,
        sender: Direction,
        code: str,
        note: str,
        action: Action,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Report a finding."""
        self.report.add(
            Finding(sender=sender, code=code, severity=severity, action=action, note=note)
        )

    def add_stray(self, unit: Unit, action: Action, *, has_message: bool = False) -> None:
        """Report output of the server that is not a message, the first of each kind."""
        kind = "inside" if has_message else "text" if unit.received.content is None else "json"
        self._stray[kind, action] += 1
        if self._stray[kind, action] == 1:
            note = _KINDS[kind].format(size=len(unit.text.rstrip(b"\r\n")))
            dropped = "; not forwarded" if action is Action.DROPPED else ""
            self.add(
                "server",
                "NOT_A_MESSAGE",
                f"{note}{dropped}. Logs of a server belong on standard error",
                action,
            )

    def add_form(self, unit: Unit, sender: Direction, action: Action) -> None:
        """Report the form of a message, once: several lines, or a byte order mark."""
        if unit.lines > 1 and not self._is_multiline_reported:
            self._is_multiline_reported = True
            note = f"a message has {unit.lines:,} lines; over stdio a message is one line"
            self.add(sender, "MESSAGE_OVER_LINES", note, action, Severity.WARNING)
        if unit.has_mark and not self._is_mark_reported:
            self._is_mark_reported = True
            note = "a message begins with a byte order mark, which RFC 8259 forbids"
            self.add(sender, "BYTE_ORDER_MARK", note, action, Severity.WARNING)

    def finish(self) -> None:
        """Report how many more lines were not messages."""
        for (_, action), count in self._stray.items():
            if count > 1:
                note = f"{count - 1:,} more such lines"
                self.add("server", "NOT_A_MESSAGE", note, action)
        self._stray.clear()
