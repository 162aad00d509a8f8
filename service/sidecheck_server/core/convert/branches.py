"""Branches of unions: whether a value can be of one, by a cheap test.

A test is a JSON object: ``types`` are those that the value can have, ``required`` the
members of objects, ``only`` all that these may have, ``constants`` the scalars that a
member can be, by its name. All are optional.
"""

from collections.abc import Mapping
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.engines.json_types import has_type
from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.types import JsonValue

__all__ = ["MOST_CONSTANTS", "TYPES", "Fits", "types_of"]

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
"""The types that a test may name."""

MOST_CONSTANTS = 20
"""How many values of a member a test lists at most."""

_DRAFT = Draft.DRAFT_2020_12

# In steps: one test, and one name or value that it lists.
_TEST = 40
_LISTED = 4


class Fits:
    """Asks tests of values; it knows the sets of names that it has made."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        # By identity: tests live as long as their guide.
        self._sets: dict[int, frozenset[str]] = {}

    def names(self, names: list[str]) -> frozenset[str]:
        """Return *names*, a list of a guide, as a set.

        Raises:
            Exhausted: the budget is spent.
        """
        found = self._sets.get(id(names))
        if found is None:
            spend(self._budget, _LISTED * len(names))
            found = self._sets[id(names)] = frozenset(names)
        return found

    def types(self, test: Mapping[str, Any], value: JsonValue) -> bool:
        """Return whether *value* has one of the types that *test* names.

        Raises:
            Exhausted: the budget is spent.
        """
        spend(self._budget, _TEST)
        types = test.get("types")
        return types is None or any(has_type(value, name, _DRAFT) for name in types)

    def all(self, test: Mapping[str, Any], value: JsonValue) -> bool:
        """Return whether *value* has all that *test* asks for.

        Raises:
            Exhausted: the budget is spent.
        """
        if not self.types(test, value):
            return False
        if not isinstance(value, dict):
            return True
        required = test.get("required", ())
        spend(self._budget, _LISTED * len(required))
        if not all(name in value for name in required):
            return False
        for name, constants in test.get("constants", {}).items():
            spend(self._budget, _LISTED * (1 + len(constants)))
            if name in value and not any(json_equal(each, value[name]) for each in constants):
                return False
        only = test.get("only")
        if only is None:
            return True
        spend(self._budget, _LISTED * len(value))
        return len(value) <= len(only) and value.keys() <= self.names(only)


def types_of(value: Any) -> set[str]:
    """Return the names of all types that *value* has."""
    return {name for name in TYPES if has_type(value, name, _DRAFT)}
