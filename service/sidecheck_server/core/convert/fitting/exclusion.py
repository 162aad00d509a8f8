"""Exclusion: whether no value is admitted by two branches of a union."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from sidecheck_server.core.convert.fitting.spelling import spelled
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.types import JsonValue

__all__ = ["exclusive"]

_AROUND = ("type", "required")
_MOST = 30
"""Parts that are looked at for one branch."""


@dataclass(slots=True)
class _Cover:
    """What is known of the values that a part admits; they may be fewer."""

    #: With one name for all numbers; None if they may be of any type.
    types: set[str] | None = None
    #: The values themselves, spelled; None if there may be others.
    values: set[str] | None = None
    required: set[str] = field(default_factory=set)
    #: The values, spelled, that a member has where there is one.
    constants: dict[str, set[str]] = field(default_factory=dict)
    #: The only members that an object may have; None if it may have others.
    declared: set[str] | None = None

    def allow(self, types: Iterable[str]) -> None:
        own = {"number" if name == "integer" else name for name in types}
        self.types = own if self.types is None else self.types & own


def exclusive(branches: Sequence[Part], beside: Part) -> bool:
    """Return whether it is certain that no value is admitted by two of *branches*.

    Of what is said *beside* them the types count, and which members there must be.
    It is where their types differ, or their values, or the values of a member that each
    object must have, or where of any two objects one must have a member that the other
    must not have.
    """
    around = {name: beside.keywords[name] for name in _AROUND if name in beside.keywords}
    covers = [
        _cover(Part(branch.at, {**around, "allOf": [branch]}))
        for branch in branches
        if not branch.never
    ]
    if any(cover.types is None for cover in covers):
        return False
    for name in {name for cover in covers for name in cover.types or ()}:
        group = [cover for cover in covers if name in (cover.types or ())]
        if len(group) > 1 and not (
            _told_by_value(group) or _told_by_member(name, group) or _told_by_names(name, group)
        ):
            return False
    return True


def _told_by_value(group: Sequence[_Cover]) -> bool:
    return _disjoint([cover.values for cover in group])


def _told_by_member(type_: str, group: Sequence[_Cover]) -> bool:
    names = set.intersection(*(cover.required & cover.constants.keys() for cover in group))
    return type_ == "object" and any(
        _disjoint([cover.constants[name] for cover in group]) for name in names
    )


def _told_by_names(type_: str, group: Sequence[_Cover]) -> bool:
    if type_ != "object" or len(group) > _MOST:
        return False
    return all(_lacks(one, two) or _lacks(two, one) for one, two in combinations(group, 2))


def _lacks(one: _Cover, two: _Cover) -> bool:
    """Return whether *two* must have a member that *one* must not have."""
    return one.declared is not None and not two.required <= one.declared


def _disjoint(sets: Sequence[set[str] | None]) -> bool:
    seen: set[str] = set()
    for each in sets:
        if each is None or seen & each:
            return False
        seen |= each
    return True


def _cover(branch: Part) -> _Cover:
    cover = _Cover()
    for part in _together(branch):
        keywords = part.keywords
        if "type" in keywords:
            stated = keywords["type"]
            cover.allow([stated] if isinstance(stated, str) else stated)
        values = _values(part)
        if values is not None:
            cover.allow(map(_type_of, values))
            own = set(map(spelled, values))
            cover.values = own if cover.values is None else cover.values & own
        cover.required.update(keywords.get("required", ()))
        others: Part | None = keywords.get("additionalProperties")
        if others is not None and others.never and "patternProperties" not in keywords:
            cover.declared = set(keywords.get("properties", ()))
        for name, member in keywords.get("properties", {}).items():
            found = _values(member)
            if found is not None:
                cover.constants[name] = set(map(spelled, found))
    return cover


def _together(branch: Part) -> Iterable[Part]:
    """Yield parts that admit all that *branch* admits, by ``$ref`` and ``allOf``."""
    pending = [branch]
    for _ in range(_MOST):
        if not pending:
            return
        part = pending.pop()
        yield part
        pending.extend(part.keywords.get("allOf", ()))
        if "$ref" in part.keywords:
            pending.append(part.keywords["$ref"])


def _values(part: Part) -> list[Any] | None:
    for _ in range(_MOST):
        if "const" in part.keywords:
            return [part.keywords["const"]]
        if "enum" in part.keywords:
            return list(part.keywords["enum"])
        if "$ref" not in part.keywords:
            return None
        part = part.keywords["$ref"]
    return None


def _type_of(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", list: "array", dict: "object", int: "number", float: "number"}
    return names.get(type(value), "null")
