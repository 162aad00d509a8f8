"""The normal form as the library that finds proofs is to read it.

The library tries the constants and names of one schema against the other, by an engine for
patterns and by numbers of its own. Both are written so that it finds what the validator
finds: patterns with explicit classes, and numbers that it reads as doubles or integers.
"""

from typing import Any

from sidecheck_server.core.compat.plain_patterns import plain_pattern
from sidecheck_server.core.exact_numbers import ExactNumber
from sidecheck_server.core.schemas.keywords import APPLICATORS, Position
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["CannotWriteError", "write_for_library"]

_EXACT = 2.0**53
"""From here on, the value of a float may be another than its shortest decimal text says."""

_MAPS = frozenset({Position.SCHEMA_MAP, Position.SCHEMA_OR_NAMES_MAP})


class CannotWriteError(Exception):
    """The library would read a part of the schema in another way."""


def write_for_library(schema: JsonValue, draft: Draft) -> JsonValue:
    """Return *schema*, a normal form of *draft*, with another text for the same meaning.

    Raises:
        CannotWriteError: there is no such text.
    """
    if not isinstance(schema, dict):
        return schema
    written: dict[str, Any] = {}
    keywords: dict[str, Any] = schema
    for name, value in keywords.items():
        if name == "pattern":
            written[name] = _plain(value)
        elif name == "patternProperties":
            written[name] = _by_pattern(value, draft)
        elif name in APPLICATORS[draft]:
            is_map = APPLICATORS[draft][name] in _MAPS
            written[name] = _map(value, draft) if is_map else _below(value, draft)
        else:
            written[name] = _exact(value)
    return written


def _below(value: Any, draft: Draft) -> Any:
    """Write the subschemas in the *value* of a keyword that has some."""
    if isinstance(value, list):
        return [write_for_library(item, draft) for item in value]
    return write_for_library(value, draft)


def _map(value: dict[str, Any], draft: Draft) -> dict[str, Any]:
    return {
        # Names that a property depends on are beside subschemas in draft 4.
        name: item if isinstance(item, list) else write_for_library(item, draft)
        for name, item in value.items()
    }


def _by_pattern(value: dict[str, Any], draft: Draft) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for pattern, schema in _map(value, draft).items():
        plain = _plain(pattern)
        written[plain] = {"allOf": [written[plain], schema]} if plain in written else schema
    return written


def _plain(pattern: str) -> str:
    plain = plain_pattern(pattern)
    if plain is None:
        raise CannotWriteError
    return plain


def _exact(value: Any) -> Any:
    """Return *value*, of a keyword, in numbers that the library reads as they are."""
    if isinstance(value, ExactNumber):
        if not value.is_integer():
            raise CannotWriteError
        return int(value)
    if isinstance(value, list):
        return [_exact(item) for item in value]
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    return value
