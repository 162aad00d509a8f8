"""Error objects of JSON-RPC: their codes, and what their data tell of violations."""

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
    "cut",
    "data_of",
]

# JSON-RPC 2.0, section 5.1, and one of MCP (2026-07-28, basic, "Error Codes").
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
"""What the message of an error of each code begins with."""

_LONGEST = 300
"""How many characters each text of an error has at most."""


def data_of(errors: Sequence[Violation], most: int, *, truncated: bool = False) -> dict[str, Any]:
    """Return the data that list the first *most* of *errors*.

    They say if there are more, or if *truncated* there may be.
    """
    data: dict[str, Any] = {"violations": [_told(each) for each in errors[:most]]}
    if truncated or len(errors) > most:
        data["truncated"] = True
    return data


def cut(text: str) -> str:
    """Return *text*, shortened if it is too long for an error."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _told(error: Violation) -> dict[str, str]:
    return {
        "code": error.code,
        "pointer": cut(error.instance_location),
        "message": cut(error.message),
    }
