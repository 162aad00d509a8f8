"""Error texts for the model about an invalid tool call or an invalid tool result.

Since 2025-11-25 invalid arguments are a tool execution error, not a protocol error, so
that the model sees what is wrong and can call again (MCP 2025-11-25, server/tools,
"Error Handling"; SEP-1303). The text goes into a ``CallToolResult`` with ``isError``.
"""

import re
from collections.abc import Sequence

from sidecheck_server.core.payload import UNREADABLE_CODES
from sidecheck_server.core.types import Severity, Verdict, Violation, pointer_steps

__all__ = ["brief_error_text", "result_error_text", "tool_error_text"]

LONGEST = 2000
"""Longest error text, in characters."""

# Longest parts of a text, in characters.
_LONGEST_NAME = 128
_LONGEST_PATH = 160
_LONGEST_LINE = 600
_RESERVED = 40
"""Characters reserved for the line with the number of omitted errors."""

_PLAIN_STEP = re.compile(r"[^\W\d][\w-]*")


def tool_error_text(verdict: Verdict, *, tool: str | None = None) -> str:
    """Return the error text for invalid arguments of *tool*; "" if valid.

    It lists each error with its location, in at most 2,000 characters.
    """
    errors = _list_errors(verdict)
    if not errors:
        return ""
    subject = _name_arguments(tool)
    if any(error.code in UNREADABLE_CODES for error in errors):
        head = f"{subject} cannot be read as JSON:"
        tail = "Call the tool again with arguments that are one well-formed JSON object."
    else:
        head = f"{subject} are not valid:"
        tail = "Correct the arguments and call the tool again."
    return _compose_text(head, errors, tail, truncated=verdict.truncated)


def result_error_text(verdict: Verdict, *, tool: str | None = None) -> str:
    """Return the error text for an invalid result of *tool*; "" if valid.

    It has at most 2,000 characters.
    """
    errors = _list_errors(verdict)
    if not errors:
        return ""
    head = f"{_name_result(tool)} is not valid:"
    return _compose_text(head, errors, _TOOL_FAULT, truncated=verdict.truncated)


def brief_error_text(*, tool: str | None = None, of_result: bool = False) -> str:
    """Return the error text without the list of errors."""
    if of_result:
        return f"{_name_result(tool)} is not valid. {_TOOL_FAULT}"
    return f"{_name_arguments(tool)} are not valid."


_TOOL_FAULT = "The fault lies in the tool, not in the call."


def _name_arguments(tool: str | None) -> str:
    return f"The arguments of the call{f' to {_to_one_line(tool, _LONGEST_NAME)}' if tool else ''}"


def _name_result(tool: str | None) -> str:
    return f"The result of {_to_one_line(tool, _LONGEST_NAME) if tool else 'the tool'}"


def _list_errors(verdict: Verdict) -> list[Violation]:
    return [violation for violation in verdict.violations if violation.severity is Severity.ERROR]


def _compose_text(head: str, errors: Sequence[Violation], tail: str, *, truncated: bool) -> str:
    characters_left = LONGEST - len(head) - len(tail) - _RESERVED - 2
    return "\n".join((head, *_compose_lines(errors, characters_left, truncated=truncated), tail))


def _compose_lines(
    errors: Sequence[Violation], characters_left: int, *, truncated: bool
) -> list[str]:
    lines: list[str] = []
    for error in errors:
        line = _compose_line(error)
        characters_left -= len(line) + 1
        if characters_left < 0:
            break
        lines.append(line)
    more = len(errors) - len(lines)
    if truncated:
        lines.append(f"- and at least {more} more" if more else "- and possibly more")
    elif more:
        lines.append(f"- and {more} more")
    return lines


def _compose_line(error: Violation) -> str:
    path = _format_path(error.instance_location)
    return (
        f"- {path}: {_to_one_line(error.message)}" if path else f"- {_to_one_line(error.message)}"
    )


def _to_one_line(text: str, longest: int = _LONGEST_LINE) -> str:
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _format_path(pointer: str) -> str:
    """Return a JSON Pointer as a path such as ``filters[0].name``."""
    path = ""
    for step in pointer_steps(pointer):
        if step.isdecimal() and step.isascii():
            path += f"[{step}]"
        elif _PLAIN_STEP.fullmatch(step):
            path += f".{step}" if path else step
        else:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            path += f'["{escaped}"]'
    # Keep the end of a long path: it identifies the value better than the start.
    path = path if len(path) <= _LONGEST_PATH else "…" + path[1 - _LONGEST_PATH :]
    return _to_one_line(path)
