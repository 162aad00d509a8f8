"""Error objects of JSON-RPC: codes, titles, and data that lists violations."""

from collections.abc import Sequence
from typing import Any

from sidecheck_server.core.types import Violation

__all__ = [
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "TITLES",
    "UNSUPPORTED_VERSION",
    "shorten",
    "violations_data",
]

# JSON-RPC 2.0, section 5.1; the last one from MCP 2026-07-28, basic, "Error Codes".
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
UNSUPPORTED_VERSION = -32022

TITLES = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "Invalid request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
    UNSUPPORTED_VERSION: "Unsupported protocol version",
}
"""First words of the message of an error, by code."""

_MAX_CHARACTERS = 300
"""Length limit of each text in an error."""


def violations_data(
    errors: Sequence[Violation], limit: int, *, truncated: bool = False
) -> dict[str, Any]:
    """Return error data that lists at most *limit* of *errors*.

    ``truncated`` is set if *errors* has more, or if *truncated* says that there may be more.
    """
    data: dict[str, Any] = {"violations": [_violation_data(error) for error in errors[:limit]]}
    if truncated or len(errors) > limit:
        data["truncated"] = True
    return data


def shorten(text: str) -> str:
    """Return *text*, cut to the length limit of texts in an error."""
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


def _violation_data(error: Violation) -> dict[str, str]:
    return {
        "code": error.code,
        "pointer": shorten(error.instance_location),
        "message": shorten(error.message),
    }
