"""Decoding of arguments."""

from typing import Any

from sidecheck_server.core.convert.decode_arguments import decode_arguments
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.types import ChangeRule

__all__ = [
    "DECODED",
    "ENTRIES",
    "JOINED",
    "NULL",
    "TEXT",
    "UNWRAPPED",
    "branch",
    "entry",
    "properties",
    "read",
    "union",
]

ENTRIES = {"entries": {"name": "name", "value": "value"}}
TEXT = {"json_text": True}
NULL, JOINED = ChangeRule.SYNTHETIC_NULL_REMOVED, ChangeRule.ENTRIES_JOINED
DECODED, UNWRAPPED = ChangeRule.JSON_TEXT_DECODED, ChangeRule.ROOT_UNWRAPPED


def properties(**decoders: Any) -> dict[str, Any]:
    return {"properties": decoders}


def entry(name: Any, value: Any) -> dict[str, Any]:
    return {"name": name, "value": value}


def read(
    decoder: dict[str, Any] | None, arguments: Any, **options: Any
) -> list[tuple[Any, dict[str, ChangeRule]]]:
    """Return all interpretations as values and change rules by location."""
    interpretations = decode_arguments(arguments, decoder, [Limits().steps], **options)
    return [
        (interpretation.value, {change.pointer: change.rule for change in interpretation.changes})
        for interpretation in interpretations
    ]


def branch(decoder: dict[str, Any] | None = None, **when: Any) -> dict[str, Any]:
    return {"when": when} if decoder is None else {"when": when, "as": decoder}


def union(*branches: dict[str, Any]) -> dict[str, Any]:
    return {"any_of": list(branches)}
