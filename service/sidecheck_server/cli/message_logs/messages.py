"""Messages of a log, with their places in its file."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sidecheck_server.cli.findings import find_positions, find_spans
from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.types import Violation

__all__ = [
    "LoggedMessage",
    "MessageLog",
    "NotThisFormError",
    "Sessions",
    "TimedMessage",
    "locate",
    "sort_by_time",
]


class NotThisFormError(Exception):
    """The text of a log does not have the form; the message names the fault."""


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """Message of a log."""

    #: Number of the line at which *text* begins, from 1.
    number: int
    #: JSON text in the file: the message, or an object around it.
    text: bytes
    #: JSON text of the message.
    message: bytes
    #: Location of the message in *text*, as a JSON Pointer.
    pointer: str = ""
    sender: Sender | None = None
    #: For a response, the method of its request, or "".
    request_method: str = ""
    #: Status of the HTTP response to the message, or 0.
    http_status: int = 0
    #: Violations in the object around the message.
    faults: tuple[Violation, ...] = ()
    #: Column at which *text* begins, from 1, in characters.
    column: int = 1
    #: Whether *text* is the value of a string in the file, so that its lines are not lines of it.
    is_string: bool = False
    #: Session of the message, within the log.
    session: str = ""
    #: Why the log has only a part of the message, so that it cannot be checked; "" if it has all.
    missing: str = ""


@dataclass(frozen=True, slots=True)
class MessageLog:
    """Content of a log."""

    messages: Sequence[LoggedMessage]
    #: Number of parts of the log that are not messages.
    skipped: int = 0
    #: What these parts are, in the singular.
    noun: str = "line"


_INITIALIZE = re.compile(rb'"method"\s*+:\s*+"initialize"')


@dataclass(slots=True)
class Sessions:
    """Names of the sessions of a log; each begins with ``initialize``."""

    _counts: Counter[str] = field(default_factory=Counter)

    def name(self, connection: str, message: bytes, sender: Sender | None) -> str:
        """Return the session of *message*, the next one of *connection*."""
        if sender is not Sender.SERVER and _INITIALIZE.search(message):
            self._counts[connection] += 1
        return f"{connection}#{self._counts[connection]}"


@dataclass(frozen=True, slots=True)
class TimedMessage:
    """Message of a log in JSON, which lists requests with their responses."""

    message: LoggedMessage
    #: JSON Pointer to its text in the file.
    pointer: str
    #: Connection that it belongs to, within the log.
    connection: str
    #: Time in milliseconds; None if unknown.
    time: float | None = None


def sort_by_time(messages: Sequence[TimedMessage]) -> list[TimedMessage]:
    """Return *messages* in the order of their times, or unchanged if one has none."""
    times = [message.time for message in messages]
    if any(time is None for time in times):
        return list(messages)
    return sorted(messages, key=lambda message: message.time or 0)


def locate(text: bytes, messages: Iterable[TimedMessage]) -> list[LoggedMessage]:
    """Return *messages* with their lines and columns in *text*, and with their sessions."""
    timed = list(messages)
    spans = find_spans(text, {message.pointer for message in timed}) if timed else {}
    positions = find_positions(text, {span.start for span in spans.values()})
    sessions = Sessions()
    located = []
    for item in timed:
        message, start = item.message, spans[item.pointer].start
        line, column = positions[start]
        if not message.is_string:
            json_text = text[start : spans[item.pointer].end]
            message = replace(message, text=json_text, message=json_text)
        session = sessions.name(item.connection, message.message, message.sender)
        located.append(replace(message, number=line, column=column, session=session))
    return located
