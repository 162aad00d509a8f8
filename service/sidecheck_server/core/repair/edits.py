"""Edits of JSON values that leave the values themselves as they are."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.engines.applied import Path
from sidecheck_server.core.types import JsonValue

__all__ = ["ABSENT", "Absent", "Edits", "edited"]


class Absent(Enum):
    """The value of a member that is to be removed."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
"""Stands for no value at all."""

Edits = Mapping[Path, JsonValue | Absent]
"""What is to stand where; no place is inside another."""


def edited(value: JsonValue, edits: Edits, budget: Budget) -> JsonValue:
    """Return *value* with *edits*: a new value that shares all that was not changed.

    Members that do not exist are put in at the end of their object. Without edits it
    is *value* itself.

    Raises:
        Exhausted: *budget* has too few steps for what is copied.
    """
    if () in edits:
        whole = edits[()]
        assert whole is not ABSENT, "the root cannot be removed"
        return whole
    return _edited(value, _tree(edits), budget) if edits else value


_EDIT = 30
"""Steps of one edit."""


class _Put:
    """What is to stand at a place."""

    __slots__ = ("value",)

    def __init__(self, value: JsonValue | Absent) -> None:
        self.value = value


def _tree(edits: Edits) -> dict[str | int, Any]:
    root: dict[str | int, Any] = {}
    for path, value in edits.items():
        here = root
        for step in path[:-1]:
            here = here.setdefault(step, {})
        here[path[-1]] = _Put(value)
    return root


def _edited(value: Any, tree: Mapping[str | int, Any], budget: Budget) -> Any:
    spend(budget, len(value) + _EDIT * len(tree))
    changed = value.copy()
    for step, below in tree.items():
        if not isinstance(below, _Put):
            changed[step] = _edited(value[step], below, budget)
        elif below.value is ABSENT:
            del changed[step]
        else:
            changed[step] = below.value
    return changed
