"""Merging: one part that admits exactly what several admit together."""

from collections.abc import Callable, Mapping, Sequence
from math import lcm
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.convert.fitting.spelling import spelled
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.translation import ANNOTATIONS

__all__ = ["merged", "without"]

_DEEPEST = 16
_MOST = 500
"""Merges of two parts that one merge is made of, at most."""
_STEPS = 50

_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_OBJECT = ("properties", "patternProperties", "additionalProperties")
_ARRAY = ("prefixItems", "items")
_GROUPS = (("contains", "minContains", "maxContains"), ("if", "then", "else"))


class _InexactError(Exception):
    """There is no such part that could be found."""


def without(part: Part, *keywords: str) -> Part:
    """Return *part* without *keywords*, and without its notes."""
    rest = {name: value for name, value in part.keywords.items() if name not in keywords}
    return Part(part.at, rest, part.never, name=part.name)


def merged(parts: Sequence[Part], budget: Budget) -> Part | None:
    """Return a part that admits what all of *parts* admit, and nothing else, or None.

    References and ``allOf`` are looked through. Of annotations the first counts. The parts
    themselves stay as they are, but for what stands below them, which is shared.

    Raises:
        Exhausted: *budget* is spent.
    """
    try:
        return _Merging(budget).merge(parts, 0)
    except _InexactError:
        return None


class _Merging:
    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.left = _MOST

    def merge(self, parts: Sequence[Part], depth: int) -> Part:
        if depth > _DEEPEST:
            raise _InexactError
        flat: dict[int, Part] = {}
        for part in parts:
            self.flatten(part, flat)
        first, *others = flat.values()
        result = Part(first.at, dict(first.keywords), first.never, list(first.notes))
        result.name = parts[0].name
        for other in others:
            if any(name in each.keywords for name in _UNEVALUATED for each in (result, other)):
                raise _InexactError
            self.join(result, other, depth)
        if result.never:
            result.keywords = {
                name: value for name, value in result.keywords.items() if name in ANNOTATIONS
            }
        return result

    def flatten(self, top: Part, into: dict[int, Part]) -> None:
        """Add to *into* parts without references and ``allOf`` that say what *top* says."""
        pending = [top]
        while pending:
            part = pending.pop()
            if id(part) in into:
                continue
            self.count()
            within = [*part.keywords.get("allOf", ())]
            if "$ref" in part.keywords:
                within.insert(0, part.keywords["$ref"])
            if not within:
                into[id(part)] = part
                continue
            if any(name in part.keywords for name in _UNEVALUATED):
                raise _InexactError
            own = without(part, "$ref", "allOf")
            own.notes = list(part.notes)
            into[id(part)] = own
            pending.extend(reversed(within))

    def count(self) -> None:
        spend(self.budget, _STEPS)
        self.left -= 1
        if self.left < 0:
            raise _InexactError

    def both(self, one: Part, two: Part, depth: int) -> Part:
        """Return what stands for *one* and *two* below those that are merged."""
        if one is two or not (two.keywords or two.never):
            return one
        if not (one.keywords or one.never):
            return two
        same = one.keywords.keys() == two.keywords.keys() == {"$ref"}
        if same and one.keywords["$ref"] is two.keywords["$ref"]:
            return one
        return self.merge((one, two), depth + 1)

    def join(self, into: Part, other: Part, depth: int) -> None:
        """Have *into* demand what *other* does too."""
        self.count()
        if into.undo != other.undo:
            raise _InexactError
        into.never = into.never or other.never
        into.notes += [note for note in other.notes if note not in into.notes]
        mine, its = into.keywords, other.keywords
        for first, *rest in _GROUPS:
            if first in mine and first in its:
                raise _InexactError
            for name in rest:
                if (name in mine and first in its) or (name in its and first in mine):
                    raise _InexactError
        self.join_objects(mine, its, depth)
        self.join_arrays(mine, its, depth)
        for name, value in its.items():
            if name in _OBJECT or name in _ARRAY or name in ("enum", "const"):
                continue
            if name not in mine:
                mine[name] = value
            elif name not in ANNOTATIONS or name == "format":
                mine[name] = self.joined(name, mine[name], value)
        _join_values(into, its)
        into.never = into.never or mine.get("type") == []

    def joined(self, name: str, mine: Any, its: Any) -> Any:
        join = _JOINS.get(name)
        if join is not None:
            return join(mine, its)
        if not _holds_parts(mine) and mine == its:
            return mine
        raise _InexactError

    def join_objects(self, mine: dict[str, Any], its: dict[str, Any], depth: int) -> None:
        if not any(name in its for name in _OBJECT):
            return
        if not any(name in mine for name in _OBJECT):
            mine.update({name: its[name] for name in _OBJECT if name in its})
            return
        if "patternProperties" in mine or "patternProperties" in its:
            raise _InexactError
        anything = Part(())
        rest = mine.get("additionalProperties", anything)
        its_rest = its.get("additionalProperties", anything)
        own, theirs = mine.get("properties", {}), its.get("properties", {})
        spend(self.budget, len(own) + _STEPS * len(theirs))
        members = dict(own)
        for name in theirs if its_rest is anything else dict.fromkeys([*own, *theirs]):
            member = self.member(own.get(name, rest), theirs.get(name, its_rest), depth)
            members[name] = member
            # What is closed needs no member of which nothing is admitted.
            if member.never and (rest.never or its_rest.never):
                del members[name]
        if members or own or theirs:
            mine["properties"] = members
        if "additionalProperties" in mine or "additionalProperties" in its:
            mine["additionalProperties"] = self.both(rest, its_rest, depth)

    def member(self, one: Part, two: Part, depth: int) -> Part:
        if one.never or two.never:
            return Part((one if one.never else two).at, never=True)
        return self.both(one, two, depth)

    def join_arrays(self, mine: dict[str, Any], its: dict[str, Any], depth: int) -> None:
        if not any(name in its for name in _ARRAY):
            return
        if not any(name in mine for name in _ARRAY):
            mine.update({name: its[name] for name in _ARRAY if name in its})
        elif "prefixItems" in mine or "prefixItems" in its:
            raise _InexactError
        else:
            mine["items"] = self.both(mine["items"], its["items"], depth)


def _holds_parts(value: Any) -> bool:
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return any(isinstance(each, Part) for each in inside)
    return isinstance(value, Part)


def _join_values(into: Part, its: Mapping[str, Any]) -> None:
    """Have *into* admit only values that ``enum`` and ``const`` of *its* admit too."""
    theirs = _listed(its)
    if theirs is None:
        return
    mine = into.keywords
    own = _listed(mine)
    const = "const" in mine or "const" in its
    if own is not None:
        allowed = set(map(spelled, theirs))
        theirs = [value for value in own if spelled(value) in allowed]
    mine.pop("enum", None)
    mine.pop("const", None)
    mine["const" if const and theirs else "enum"] = theirs[0] if const and theirs else theirs
    into.never = into.never or not theirs


def _listed(keywords: Mapping[str, Any]) -> list[Any] | None:
    """Return the values that ``enum`` and ``const`` admit; None if there is neither."""
    if "const" not in keywords:
        return keywords.get("enum")
    fixed = keywords["const"]
    listed = map(spelled, keywords.get("enum", [fixed]))
    return [fixed] if spelled(fixed) in listed else []


def _types(mine: Any, its: Any) -> Any:
    one = [mine] if isinstance(mine, str) else mine
    two = [its] if isinstance(its, str) else its
    found = [name for name in one if name in two or (name == "integer" and "number" in two)]
    if "number" in one and "integer" in two and "number" not in two and "integer" not in found:
        found.append("integer")
    return found[0] if len(found) == 1 else found


def _multiple(mine: Any, its: Any) -> Any:
    if mine == its:
        return mine
    if not (isinstance(mine, int) and isinstance(its, int)) or max(mine, its) > 2**53:
        raise _InexactError
    return lcm(mine, its)


def _union(mine: list[str], its: list[str]) -> list[str]:
    return list(dict.fromkeys([*mine, *its]))


def _dependent(mine: Mapping[str, Any], its: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _union(mine.get(name, []), its.get(name, [])) for name in dict.fromkeys([*mine, *its])
    }


def _apart(mine: Mapping[str, Any], its: Mapping[str, Any]) -> dict[str, Any]:
    if mine.keys() & its.keys():
        raise _InexactError
    return {**mine, **its}


def _either(mine: Any, its: Any) -> Any:
    return mine or its


_JOINS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "type": _types,
        **dict.fromkeys(
            ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max
        ),
        **dict.fromkeys(
            ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min
        ),
        "multipleOf": _multiple,
        "uniqueItems": _either,
        "required": _union,
        "dependentRequired": _dependent,
        "dependentSchemas": _apart,
    }
)
