"""The texts for the model that made an invalid call, or whose call got an invalid result.

Since 2025-11-25 invalid arguments are an error of the tool, not of the protocol, so
that the model sees what is wrong and can call again (MCP 2025-11-25, server/tools,
"Error Handling"; SEP-1303). The text goes into a ``CallToolResult`` with ``isError``.
"""

import re
from collections.abc import Sequence

from sidecheck_server.core.payload import UNREADABLE
from sidecheck_server.core.types import Severity, Verdict, Violation

__all__ = ["brief_error_text", "result_error_text", "tool_error_text"]

LONGEST = 2000
"""How many characters a text has at most."""

_LONGEST_NAME = 128
_LONGEST_PATH = 160
_LONGEST_LINE = 600
_RESERVED = 40
"""What is kept free for the line that says how many more there are."""

_PLAIN_STEP = re.compile(r"[^\W\d][\w-]*")


def tool_error_text(verdict: Verdict, *, tool: str | None = None) -> str:
    """Return what to tell the model whose arguments for *tool* got *verdict*, or "" if valid.

    It names every place and what is wanted there, as far as 2,000 characters go.
    """
    errors = _errors(verdict)
    if not errors:
        return ""
    subject = _arguments(tool)
    if any(each.code in UNREADABLE for each in errors):
        head = f"{subject} cannot be read as JSON:"
        tail = "Call the tool again with arguments that are one well-formed JSON object."
    else:
        head = f"{subject} are not valid:"
        tail = "Correct the arguments and call the tool again."
    return _text(head, errors, tail, truncated=verdict.truncated)


def result_error_text(verdict: Verdict, *, tool: str | None = None) -> str:
    """Return what to tell the model whose call of *tool* got an invalid result, or "" if valid.

    It is as long as `tool_error_text` at the most.
    """
    errors = _errors(verdict)
    if not errors:
        return ""
    head = f"{_result(tool)} is not valid:"
    return _text(head, errors, _OTHERS_FAULT, truncated=verdict.truncated)


def brief_error_text(*, tool: str | None = None, of_result: bool = False) -> str:
    """Return what to tell the model if what is wrong is not to be told."""
    if of_result:
        return f"{_result(tool)} is not valid. {_OTHERS_FAULT}"
    return f"{_arguments(tool)} are not valid."


_OTHERS_FAULT = "The fault lies in the tool, not in the call."


def _arguments(tool: str | None) -> str:
    return f"The arguments of the call{f' to {_one_line(tool, _LONGEST_NAME)}' if tool else ''}"


def _result(tool: str | None) -> str:
    return f"The result of {_one_line(tool, _LONGEST_NAME) if tool else 'the tool'}"


def _errors(verdict: Verdict) -> list[Violation]:
    return [each for each in verdict.violations if each.severity is Severity.ERROR]


def _text(head: str, errors: Sequence[Violation], tail: str, *, truncated: bool) -> str:
    room = LONGEST - len(head) - len(tail) - _RESERVED - 2
    return "\n".join((head, *_lines(errors, room, truncated=truncated), tail))


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
    path = _path(error.instance_location)
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
