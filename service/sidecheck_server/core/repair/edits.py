"""Edits of JSON values that leave the original values unchanged."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from sidecheck_server.core.engines.application import Path
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.types import JsonValue

__all__ = ["ABSENT", "Absent", "Edits", "apply_edits"]


class Absent(Enum):
    """Type of `ABSENT`."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
"""Replacement that removes a property."""

Edits = Mapping[Path, JsonValue | Absent]
"""Replacements by path; no path is a prefix of another."""


def apply_edits(value: JsonValue, edits: Edits, budget: Budget) -> JsonValue:
    """Apply *edits* to *value*; return a new value that shares all unchanged parts.

    New properties are appended to their object. Without edits the result is *value* itself.

    Raises:
        Exhausted: *budget* has too few steps for the copies.
    """
    if () in edits:
        root = edits[()]
        assert root is not ABSENT, "the root cannot be removed"
        return root
    return _apply(value, _build_tree(edits), budget) if edits else value


_EDIT = 30
"""Steps of one edit."""


class _Replacement:
    __slots__ = ("value",)

    def __init__(self, value: JsonValue | Absent) -> None:
        self.value = value


def _build_tree(edits: Edits) -> dict[str | int, Any]:
    root: dict[str | int, Any] = {}
    for path, value in edits.items():
        node = root
        for step in path[:-1]:
            node = node.setdefault(step, {})
        node[path[-1]] = _Replacement(value)
    return root


def _apply(value: Any, tree: Mapping[str | int, Any], budget: Budget) -> Any:
    spend(budget, len(value) + _EDIT * len(tree))
    copy = value.copy()
    for step, subtree in tree.items():
        if not isinstance(subtree, _Replacement):
            copy[step] = _apply(value[step], subtree, budget)
        elif subtree.value is ABSENT:
            del copy[step]
        else:
            copy[step] = subtree.value
    return copy
