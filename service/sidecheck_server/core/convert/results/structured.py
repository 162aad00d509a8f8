"""Structured content as text, unless a text says it already."""

from collections.abc import Iterable
from itertools import islice

import msgspec

from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import JsonValue

__all__ = ["structured_text"]

# As deep as payloads may be by default; a deeper text counts as another value.
_DEEPEST = 128

# How many texts that may be the JSON are read; it is no loss if it is said twice.
_READ = 16


def structured_text(value: JsonValue, texts: Iterable[str]) -> str:
    """Return the compact JSON of *value*, integers exact, or "" if one of *texts* has it.

    Tools that give structured content should give its JSON in a text as well (MCP
    2025-06-18, server/tools, "Structured Content"). No more than 16 texts are read. Time is
    linear in the size of all.
    """
    encoded = msgspec.json.encode(value).decode()
    alike = (text for text in texts if _looks_like(text, value, encoded))
    if any(_says(text, value, encoded) for text in islice(alike, _READ)):
        return ""
    return encoded


def _looks_like(text: str, value: JsonValue, encoded: str) -> bool:
    if not isinstance(value, dict | list):
        return text == encoded
    return text.lstrip()[:1] == encoded[0] and text.rstrip()[-1:] == encoded[-1]


def _says(text: str, value: JsonValue, encoded: str) -> bool:
    if text == encoded:
        return True
    try:
        found = decode(text.encode(), max_depth=_DEEPEST, most=1)
    except (MalformedError, RequestError):
        return False
    return json_equal(value, found)
