"""Branches of unions: cheap tests that tell which of them a value can be.

A test never rules out a branch that admits the value: it asks for less than the branch
does, and leaves out what would make it large.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.engines.json_types import has_type
from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.words import JsonValue

__all__ = ["MOST_CONSTANTS", "TYPES", "Fits", "Tests"]

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
"""The types that a test may name."""

MOST_CONSTANTS = 20
"""How many values of a member a test lists at most."""

_ROOM = 32 << 10
"""How many characters the tests of one guide have together; the others name types only."""

_MOST_PARTS = 32
"""How many parts are looked at for one test that say something of the same value."""

_DEEPEST = 4
"""How many unions, one in the other, are looked into."""

_NAME = 6
"""How many characters a name takes beside its own."""


class Tests:
    """Makes the tests of one guide."""

    def __init__(self) -> None:
        self._room = _ROOM

    def of(self, part: Part) -> dict[str, Any]:
        """Return a test of the values that *part*, which was fitted, admits.

        ``types`` are those that they can have, ``required`` the members of objects,
        ``only`` all that these may have, ``constants`` the scalars that a member can be.
        """
        test: dict[str, Any] = {}
        types = _types(part, _DEEPEST)
        if types is not None:
            test["types"] = sorted(types - {"integer"} if "number" in types else types)
        if types is None or "object" in types:
            parts = list(_of_one_value(part))
            self._add(test, "constants", _constants_of_members(parts))
            self._add(test, "required", _required(parts))
            self._add(test, "only", _only(parts))
        return test

    def _add(self, test: dict[str, Any], name: str, found: Any) -> None:
        """Add *found* to *test* if there is any, and room for it."""
        if found is None or (not found and name != "only"):
            return
        size = _size(found)
        if size <= self._room:
            self._room -= size
            test[name] = found


def _size(found: Any) -> int:
    if isinstance(found, Mapping):
        return sum(len(name) + _NAME + _size(values) for name, values in found.items())
    return sum(_NAME + len(each if isinstance(each, str) else repr(each)) for each in found)


def _of_one_value(part: Part) -> Iterator[Part]:
    """Yield *part* and what it consists of through ``$ref`` and ``allOf``, up to a bound."""
    pending = [part]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_PARTS:
        part = pending.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            pending += reversed(_parts(part, "allOf"))
            pending += _parts(part, "$ref")


def _parts(part: Part, keyword: str) -> list[Part]:
    value = part.keywords.get(keyword)
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, Part)]


def _types(part: Part, depth: int) -> set[str] | None:
    """Return the types that values of *part* can have, or None if that is not known."""
    known: set[str] | None = None
    for each in _of_one_value(part):
        for types in _types_said(each, depth):
            known = types if known is None else known & types
    return known


def _types_said(part: Part, depth: int) -> Iterator[set[str]]:
    if part.never:
        yield set()
    said = part.keywords.get("type")
    if said is not None:
        names = {said} if isinstance(said, str) else set(said)
        yield names | {"integer"} if "number" in names else names
    values = _values(part)
    if values is not None:
        yield {name for value in values for name in TYPES if has_type(value, name, _DRAFT)}
    for union in ("anyOf", "oneOf"):
        branches = _parts(part, union)
        if branches and depth:
            below = [_types(branch, depth - 1) for branch in branches]
            known = [types for types in below if types is not None]
            if len(known) == len(below):
                yield set().union(*known)


_DRAFT = Draft.DRAFT_2020_12


def _values(part: Part) -> list[Any] | None:
    """Return the only values that *part* itself lists, or None."""
    if "const" in part.keywords:
        return [part.keywords["const"]]
    values = part.keywords.get("enum")
    return values if isinstance(values, list) else None


def _required(parts: list[Part]) -> list[str]:
    return list(dict.fromkeys(name for part in parts for name in part.keywords.get("required", ())))


def _only(parts: list[Part]) -> list[str] | None:
    """Return all members that objects can have, or None if that is not known."""
    for part in parts:
        others = part.keywords.get("additionalProperties")
        closed = isinstance(others, Part) and others.never
        if closed and not part.keywords.get("patternProperties"):
            return list(part.keywords.get("properties", ()))
    return None


def _constants_of_members(parts: list[Part]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for part in parts:
        for name, member in part.keywords.get("properties", {}).items():
            values = _constants(member, _DEEPEST)
            if values is not None:
                found.setdefault(name, values)
    return found


def _constants(part: Part, depth: int) -> list[Any] | None:
    """Return a few scalars that are all that *part* admits, or None."""
    for each in _of_one_value(part):
        values = _values(each)
        if values is None and each.keywords.get("type") == "null":
            values = [None]
        if values is None and depth:
            values = _constants_of_union(each, depth)
        if values is not None and len(values) <= MOST_CONSTANTS:
            return values if not any(isinstance(value, dict | list) for value in values) else None
    return None


def _constants_of_union(part: Part, depth: int) -> list[Any] | None:
    branches = _parts(part, "anyOf") or _parts(part, "oneOf")
    if not branches or len(branches) > MOST_CONSTANTS:
        return None
    found: list[Any] = []
    for branch in branches:
        values = _constants(branch, depth - 1)
        if values is None:
            return None
        found += values
    return found


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
