"""The text for the model that made an invalid call.

Since 2025-11-25 invalid arguments are an error of the tool, not of the protocol, so
that the model sees what is wrong and can call again (MCP 2025-11-25, server/tools,
"Error Handling"; SEP-1303). The text goes into a ``CallToolResult`` with ``isError``.
"""

import re
from collections.abc import Sequence

from sidecheck_server.core.words import Severity, Verdict, Violation

__all__ = ["tool_error_text"]

LONGEST = 2000
"""How many characters a text has at most."""

_LONGEST_NAME = 128
_LONGEST_PATH = 160
_LONGEST_LINE = 600
_RESERVED = 40
"""What is kept free for the line that says how many more there are."""

_UNREADABLE = frozenset({"PAYLOAD_NOT_JSON", "DUPLICATE_KEY", "NUMBER_OUT_OF_RANGE"})
_PLAIN_STEP = re.compile(r"[^\W\d][\w-]*")


def tool_error_text(verdict: Verdict, *, tool: str | None = None) -> str:
    """Return what to tell the model whose arguments for *tool* got *verdict*, or "" if valid.

    It names every place and what is wanted there, as far as 2,000 characters go.
    """
    errors = [each for each in verdict.violations if each.severity is Severity.ERROR]
    if not errors:
        return ""
    named = f" {_one_line(tool, _LONGEST_NAME)}" if tool else ""
    if any(each.code in _UNREADABLE for each in errors):
        head = f"The arguments of the call{' to' * bool(named)}{named} cannot be read as JSON:"
        tail = "Call the tool again with arguments that are one well-formed JSON object."
    else:
        head = f"The arguments of the call{' to' * bool(named)}{named} are not valid:"
        tail = "Correct the arguments and call the tool again."
    room = LONGEST - len(head) - len(tail) - _RESERVED - 2
    return "\n".join((head, *_lines(errors, room, truncated=verdict.truncated), tail))


def _lines(errors: Sequence[Violation], room: int, *, truncated: bool) -> list[str]:
    lines: list[str] = []
    for error in errors:
        line = _line(error)
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    more = len(errors) - len(lines)
    if truncated:
        lines.append(f"- and at least {more} more" if more else "- and perhaps more")
    elif more:
        lines.append(f"- and {more} more")
    return lines


def _line(error: Violation) -> str:
    path = _path(error.instance_pointer)
    return f"- {path}: {_one_line(error.message)}" if path else f"- {_one_line(error.message)}"


def _one_line(text: str, longest: int = _LONGEST_LINE) -> str:
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _path(pointer: str) -> str:
    """Return a JSON Pointer as a path such as ``filters[0].name``."""
    path = ""
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if step.isdecimal() and step.isascii():
            path += f"[{step}]"
        elif _PLAIN_STEP.fullmatch(step):
            path += f".{step}" if path else step
        else:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            path += f'["{escaped}"]'
    # The end tells more than the beginning.
    path = path if len(path) <= _LONGEST_PATH else "…" + path[1 - _LONGEST_PATH :]
    return _one_line(path)
