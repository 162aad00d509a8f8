"""Making tests of the branches of unions (see `branches`).

A test never rules out a branch that admits the value: it asks for less than the branch
does. To look at fewer parts, or to leave something out, only makes it ask for less.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.convert.branches import MOST_CONSTANTS, types_of
from sidecheck_server.core.convert.part import Part

__all__ = ["Tests"]

_ROOM = 32 << 10
"""How many characters the tests of one guide have together; the others name types only."""

_NAME = 6
"""How many characters a name takes beside its own."""

_LOOKS, _LOOKS_IN_ALL = 512, 100_000
"""How many parts are looked at for one test, and for all of one guide."""

_NAMES = 8
"""How many names, or entries of a list, are looked through in the time of one part."""

_DEEPEST = 4
"""How many unions, one in the other, are looked into."""


class Tests:
    """Makes the tests of one guide."""

    def __init__(self) -> None:
        self._room = _ROOM
        self._left = _LOOKS_IN_ALL

    def of(self, part: Part) -> dict[str, Any]:
        """Return a test of the values that *part*, which was fitted, admits."""
        look = _Look(min(_LOOKS, self._left))
        before = look.left
        test: dict[str, Any] = {}
        types = look.types(part, _DEEPEST)
        if types is not None:
            test["types"] = sorted(types - {"integer"} if "number" in types else types)
        if types is None or "object" in types:
            parts = [each for each in look.parts(part) if look.affords(_names_in(each) // _NAMES)]
            self._add(test, "constants", look.constant_members(parts))
            self._add(test, "required", _required(parts))
            self._add(test, "only", _only(parts))
        self._left -= before - look.left
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


class _Look:
    """Looks at parts, as often as it may."""

    def __init__(self, left: int) -> None:
        self.left = left

    def parts(self, part: Part) -> Iterator[Part]:
        """Yield *part* and what it consists of through ``$ref`` and ``allOf``."""
        pending = [part]
        seen: set[int] = set()
        while pending:
            part = pending.pop()
            if id(part) in seen:
                continue
            seen.add(id(part))
            if not self.affords(1 + len(part.keywords.get("allOf", ())) // _NAMES):
                return
            yield part
            pending += reversed(_listed(part, "allOf"))
            pending += _listed(part, "$ref")

    def affords(self, looks: int) -> bool:
        """Return whether so many *looks* are left, and take them."""
        if looks > self.left:
            return False
        self.left -= looks
        return True

    def types(self, part: Part, depth: int) -> set[str] | None:
        """Return the types that values of *part* can have, or None if that is not known."""
        known: set[str] | None = None
        for each in self.parts(part):
            for types in self._types_said(each, depth):
                known = types if known is None else known & types
        return known

    def _types_said(self, part: Part, depth: int) -> Iterator[set[str]]:
        if part.never:
            yield set()
        said = part.keywords.get("type")
        if said is not None:
            names = {said} if isinstance(said, str) else set(said)
            yield names | {"integer"} if "number" in names else names
        values = _values(part)
        if values is not None:
            yield set().union(*map(types_of, values))
        for union in ("anyOf", "oneOf"):
            known = self._types_of_union(part, union, depth)
            if known is not None:
                yield known

    def _types_of_union(self, part: Part, union: str, depth: int) -> set[str] | None:
        count = len(part.keywords.get(union, ()))
        if not count or not depth or not self.affords(count // _NAMES):
            return None
        known: set[str] = set()
        for branch in _listed(part, union):
            types = self.types(branch, depth - 1)
            if types is None:
                return None
            known |= types
        return known

    def constant_members(self, parts: list[Part]) -> dict[str, list[Any]]:
        """Return the members of objects that can be a few scalars only, and these."""
        found: dict[str, list[Any]] = {}
        for part in parts:
            for name, member in part.keywords.get("properties", {}).items():
                values = self._constants(member, _DEEPEST) if self.left else None
                if values is not None:
                    found.setdefault(name, values)
        return found

    def _constants(self, part: Part, depth: int) -> list[Any] | None:
        """Return a few scalars that are all that *part* admits, or None."""
        for each in self.parts(part):
            values = _values(each)
            if values is None and each.keywords.get("type") == "null":
                values = [None]
            if values is None and depth:
                values = self._constants_of_union(each, depth)
            if values is not None and len(values) <= MOST_CONSTANTS:
                containers = any(isinstance(value, dict | list) for value in values)
                return None if containers else values
        return None

    def _constants_of_union(self, part: Part, depth: int) -> list[Any] | None:
        branches = part.keywords.get("anyOf") or part.keywords.get("oneOf")
        if not branches or len(branches) > MOST_CONSTANTS:
            return None
        found: list[Any] = []
        for branch in branches:
            values = self._constants(branch, depth - 1)
            if values is None:
                return None
            found += values
        return found


def _listed(part: Part, keyword: str) -> list[Part]:
    value = part.keywords.get(keyword)
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, Part)]


def _names_in(part: Part) -> int:
    return sum(len(part.keywords.get(keyword, ())) for keyword in ("required", "properties"))


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
