"""Arguments as they are read by guides."""

from typing import Any

from sidecheck_server.core.convert.restoring import readings
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
    "members",
    "read",
    "union",
]

ENTRIES = {"entries": {"name": "name", "value": "value"}}
TEXT = {"json_text": True}
NULL, JOINED = ChangeRule.SYNTHETIC_NULL_REMOVED, ChangeRule.ENTRIES_JOINED
DECODED, UNWRAPPED = ChangeRule.JSON_TEXT_DECODED, ChangeRule.ROOT_UNWRAPPED


def members(**guides: Any) -> dict[str, Any]:
    return {"members": guides}


def entry(name: Any, value: Any) -> dict[str, Any]:
    return {"name": name, "value": value}


def read(
    guide: dict[str, Any] | None, arguments: Any, **how: Any
) -> list[tuple[Any, dict[str, ChangeRule]]]:
    """Return all readings: the value, and the rule of each change by its place."""
    found = readings(arguments, guide, [Limits().steps], **how)
    return [
        (each.value, {change.pointer: change.rule for change in each.changes}) for each in found
    ]


def branch(guide: dict[str, Any] | None = None, **when: Any) -> dict[str, Any]:
    return {"when": when} if guide is None else {"when": when, "as": guide}


def union(*branches: dict[str, Any]) -> dict[str, Any]:
    return {"any_of": list(branches)}
