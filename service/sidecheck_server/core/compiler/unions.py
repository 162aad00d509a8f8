"""Unions that can be judged without trying their branches one after the other.

A branch that fails costs an exception. Where the type of a value, or one of its
members, tells which branch it takes, only that one is tried. As no value is accepted by
two of such branches, ``anyOf`` and ``oneOf`` mean the same by them.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.compiler.value_bounds import (
    Definitions,
    ValueBounds,
    cover_of,
    kinds,
    limits_of,
)
from sidecheck_server.core.schemas.canonical import Canonical

__all__ = ["merged", "without_trying"]


# The keywords that say nothing about values of any other type.
_OF_TYPE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
        "array": frozenset({"items", "additionalItems", "minItems", "maxItems", "uniqueItems"}),
        "object": frozenset(
            {
                "byMember",
                "properties",
                "patternProperties",
                "additionalProperties",
                "required",
                "minProperties",
                "maxProperties",
                "propertyNames",
            }
        ),
        **dict.fromkeys(
            ("number", "integer", "int"),
            frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
        ),
        "null": frozenset(),
        "boolean": frozenset(),
    }
)


def without_trying(schema: Canonical, definitions: Definitions) -> Canonical:
    """Return what accepts the same as *schema*, and tries no more branches than need be.

    References lead to *definitions*. Subschemas are looked into, definitions are not.
    """
    if isinstance(schema, bool):
        return schema
    body = {name: _inside(name, value, definitions) for name, value in schema.items()}
    unions = {name: body.pop(name) for name in ("anyOf", "oneOf") if name in body}
    known = cover_of(body, definitions) if unions else ValueBounds()
    for keyword, branches in unions.items():
        body = _joined(body, _simpler(keyword, branches, known, definitions))
    return body


def _inside(keyword: str, value: Any, definitions: Definitions) -> Any:
    if keyword in _SCHEMAS and isinstance(value, list):
        return [without_trying(each, definitions) for each in value]
    if keyword in _SCHEMA_MAPS:
        return {
            name: each if isinstance(each, list) else without_trying(each, definitions)
            for name, each in value.items()
        }
    return without_trying(value, definitions) if keyword in _SCHEMA else value


_SCHEMAS = frozenset({"allOf", "anyOf", "items", "oneOf"})
_SCHEMA_MAPS = frozenset({"dependencies", "patternProperties", "properties"})
_SCHEMA = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
    }
)


def _joined(around: dict[str, Any], union: Mapping[str, Any]) -> dict[str, Any]:
    """Return what demands both."""
    if "type" in around and set(around["type"]) <= set(union.get("type", ())):
        union = {name: value for name, value in union.items() if name != "type"}
    if not around:
        return dict(union)
    # Any other keyword may mean something else beside those around.
    if union.keys() <= _INDEPENDENT and not union.keys() & around.keys():
        return {**around, **union}
    return {"allOf": [around, union]}


_INDEPENDENT = frozenset({"anyOf", "byMember", "byType", "enum", "oneOf", "type"})


def _simpler(
    keyword: str, given: Sequence[Canonical], around: ValueBounds, definitions: Definitions
) -> Mapping[str, Any]:
    branches = list(_branches(keyword, given))
    covers = [cover_of(branch, definitions).both(around) for branch in branches]
    branches, covers = _told_by_member(branches, covers)
    plain = branches[0] if len(branches) == 1 else merged(branches)
    if isinstance(plain, dict):
        return plain
    return _told_by_type(branches, covers) or {keyword: branches}


def _branches(keyword: str, given: Sequence[Canonical]) -> Iterator[Canonical]:
    """Yield the branches that accept anything, with those of an ``anyOf`` among ``anyOf``."""
    for branch in given:
        if isinstance(branch, dict) and branch.keys() == {"anyOf"} and keyword == "anyOf":
            yield from _branches(keyword, branch["anyOf"])
        elif branch is not False and (branch is True or branch.get("not") not in (True, {})):
            yield branch


def _told_by_type(
    branches: Sequence[Canonical], covers: Sequence[ValueBounds]
) -> dict[str, Any] | None:
    seen: set[str] = set()
    cases = []
    for branch, cover in zip(branches, covers, strict=True):
        own = None if cover.types is None else kinds(cover.types)
        if own is None or seen & own:
            return None
        if own:
            seen |= own
            cases.append([list(cover.types or ()), branch])
    return {"byType": cases} if len(cases) > 1 else None


def _told_by_member(
    branches: list[Canonical], covers: list[ValueBounds]
) -> tuple[list[Canonical], list[ValueBounds]]:
    """Put the most branches that one member tells apart into one."""
    best: list[int] = []
    chosen = ""
    names = dict.fromkeys(name for cover in covers for name in cover.constants)
    for name in names:
        told = _told(name, covers)
        if len(told) > len(best):
            best, chosen = told, name
    if len(best) < 2:
        return branches, covers
    cases = [[list(covers[n].constants[chosen]), _beside(chosen, branches[n])] for n in best]
    one = {"type": ["object"], "byMember": {"name": chosen, "cases": cases}}
    left = [n for n in range(len(branches)) if n not in best]
    return (
        [*(branches[n] for n in left), one],
        [*(covers[n] for n in left), ValueBounds(types=("object",))],
    )


def _told(name: str, covers: Sequence[ValueBounds]) -> list[int]:
    """Return the positions of the objects whose member *name* has values of their own."""
    told = []
    seen: set[tuple[bool, Any]] = set()
    for position, cover in enumerate(covers):
        if cover.types != ("object",) or name not in cover.required:
            continue
        values = {(isinstance(each, bool), each) for each in cover.constants.get(name, ())}
        if values and not values & seen:
            seen |= values
            told.append(position)
    return told


def _beside(name: str, branch: Canonical) -> Canonical:
    """Return what *branch* asks for besides the values of its member *name*."""
    if isinstance(branch, bool) or name not in branch.get("properties", ()):
        return branch
    rest = dict(branch)
    member = branch["properties"][name]
    if limits_of(member) is not None and member.keys() <= {"type", "enum"}:
        rest["properties"] = {**branch["properties"], name: True}
    return rest


def merged(branches: Sequence[Canonical]) -> Canonical | None:
    """Return a plain schema that accepts what an ``anyOf`` or ``oneOf`` of *branches* accepts.

    None if there is none. As the branches exclude each other, both keywords mean the same.
    """
    return _merged_types(branches) or _merged_enums(branches)


def _merged_types(branches: Sequence[Canonical]) -> Canonical | None:
    types: list[str] = []
    body: dict[str, Any] = {}
    for branch in branches:
        if not isinstance(branch, dict) or "type" not in branch:
            return None
        own = branch["type"]
        if kinds(own) & kinds(types):
            return None
        allowed = frozenset({"type"}).union(*(_OF_TYPE[name] for name in own))
        if not branch.keys() <= allowed:
            return None
        types += own
        body |= branch
    return {**body, "type": types}


def _merged_enums(branches: Sequence[Canonical]) -> Canonical | None:
    values: list[Any] = []
    for branch in branches:
        if not isinstance(branch, dict):
            return None
        if branch == {"type": ["null"]}:
            values.append(None)
            continue
        if not branch.keys() <= {"type", "enum"} or branch.get("type", ["string"]) != ["string"]:
            return None
        if not all(isinstance(value, str) for value in branch.get("enum", [None])):
            return None
        values += dict.fromkeys(branch["enum"])
    return {"enum": values} if len(set(values)) == len(values) else None
