"""Messages in the lines of a text log."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sidecheck_server.cli.message_logs.messages import LoggedMessage, MessageLog, Sessions
from sidecheck_server.core.mcp.context import Sender

__all__ = ["read_log_lines"]

_DECODER = json.JSONDecoder()

_OMISSION = re.compile(r"\.\.\.\[?[\d,]++ (?:more )?char(?:acter)?s truncated\]?\.\.\.")
"""Mark of Claude Desktop where it left out the middle of a message, valid JSON or not."""

_MAX_CONTINUATION_LINES = 100_000
"""Maximum number of lines of one message."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """Entry of a log: a line with a head, and the lines without one that follow it."""

    #: Number of its first line, from 1.
    number: int
    lines: list[str]


def read_log_lines(
    text: bytes,
    head: re.Pattern[str],
    message_start: re.Pattern[str],
    describe: Callable[[re.Match[str]], tuple[Sender, str]],
) -> MessageLog:
    """Return the messages of the log *text*.

    An entry begins with a line that matches *head*; one that matches *message_start* has a
    message after the match. *describe* returns the sender of the message of such a match, and its
    connection. Text after the JSON of a message is ignored.
    """
    # Bytes that are not UTF-8 are restored when the message is encoded.
    decoded = text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    messages: list[LoggedMessage] = []
    skipped = 0
    sessions = Sessions()
    for entry in _split(decoded, head):
        match = message_start.match(entry.lines[0])
        if match is None:
            skipped += sum(bool(line.strip()) for line in entry.lines)
            continue
        sender, connection = describe(match)
        content = "\n".join([entry.lines[0][match.end() :], *entry.lines[1:]])
        value, missing = _cut_message(content)
        encoded = value.encode("utf-8", "surrogateescape")
        messages.append(
            LoggedMessage(
                entry.number,
                encoded,
                encoded,
                sender=sender,
                column=match.end() + 1,
                session=sessions.name(connection, encoded, sender),
                missing=missing,
            )
        )
    return MessageLog(messages, skipped)


def _split(text: str, head: re.Pattern[str]) -> Iterator[_Entry]:
    entry: _Entry | None = None
    for number, ended_line in enumerate(text.split("\n"), 1):
        line = ended_line.removesuffix("\r")
        is_full = entry is not None and len(entry.lines) >= _MAX_CONTINUATION_LINES
        if entry is None or is_full or head.match(line):
            if entry is not None:
                yield entry
            entry = _Entry(number, [line])
        else:
            entry.lines.append(line)
    if entry is not None:
        yield entry


def _cut_message(content: str) -> tuple[str, str]:
    """Return the JSON text at the start of *content*, and why a part of it is missing, or ""."""
    first_line = content.split("\n", 1)[0]
    try:
        _, end = _DECODER.raw_decode(content)
    except json.JSONDecodeError as error:
        # A mark in the middle makes the text invalid at another place.
        value, is_cut = first_line, _is_at_end(content, error)
    except (RecursionError, ValueError):
        # Too deep, or an integer with too many digits: the check reports it.
        return first_line, ""
    else:
        value, is_cut = content[:end], False
    omission = _OMISSION.search(value)
    if omission is not None:
        return value, f"the log omits a part of it ({omission[0].strip('.')})"
    return value, "the log has only its start" if is_cut else ""


def _is_at_end(content: str, error: json.JSONDecodeError) -> bool:
    """Return whether *content* is not JSON only because it ends too early."""
    return error.pos >= len(content.rstrip()) or error.msg.startswith("Unterminated string")
