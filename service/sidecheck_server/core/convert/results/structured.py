"""Structured content as text, unless a text says it already."""

from collections.abc import Iterable

import msgspec

from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.refusals import Refusal
from sidecheck_server.core.words import JsonValue

__all__ = ["structured_text"]

# As deep as payloads may be by default; a deeper text counts as another value.
_DEEPEST = 128


def structured_text(value: JsonValue, texts: Iterable[str]) -> str:
    """Return the compact JSON of *value*, integers exact, or "" if one of *texts* has it.

    Tools that give structured content should give its JSON in a text as well (MCP
    2025-06-18, server/tools, "Structured Content"). Time is linear in the size of all.
    """
    encoded = msgspec.json.encode(value).decode()
    if any(_says(text, value, encoded) for text in texts):
        return ""
    return encoded


def _says(text: str, value: JsonValue, encoded: str) -> bool:
    if text == encoded:
        return True
    if not isinstance(value, dict | list) or text.lstrip()[:1] != encoded[0]:
        return False
    try:
        found = decode(text.encode(), max_depth=_DEEPEST, most=1)
    except (MalformedError, Refusal):
        return False
    return json_equal(value, found)
