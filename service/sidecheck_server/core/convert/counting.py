"""Counting: how large a schema is, in the terms of the limits of APIs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.apis.api import SchemaLimits
from sidecheck_server.core.convert.part import Part, reachable

__all__ = ["Counts", "beyond", "counts_of"]

_LARGE_ENUM = 250
"""Values above which the text of an enum is counted by itself."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How large a schema is."""

    properties: int
    depth: int
    text: int
    enum_values: int
    #: Of the largest enum of more than 250 strings.
    enum_text: int
    #: Members that are not required.
    optional: int
    #: Members whose type is a union.
    unions: int


def counts_of(root: Part) -> Counts:
    """Return the counts of the schema at *root*, which was fitted.

    What a reference leads to is counted once, however many lead there; levels are those of
    the longest way on which no part comes twice.
    """
    parts = reachable(root)
    references = [part.keywords["$ref"] for part in parts if "$ref" in part.keywords]
    targets = {id(each): each for each in references}
    objects = [part.keywords for part in parts if "properties" in part.keywords]
    members = [member for each in objects for member in each["properties"].items()]
    enums = [part.keywords["enum"] for part in parts if "enum" in part.keywords]
    constants = [part.keywords["const"] for part in parts if "const" in part.keywords]
    return Counts(
        properties=len(members),
        depth=_depth(root),
        text=sum(len(name) for name, _ in members)
        + sum(len(each.name) for each in targets.values() if each is not root)
        + sum(map(_length, [*constants, *(value for values in enums for value in values)])),
        enum_values=sum(map(len, enums)),
        enum_text=max(map(_length_of_large, enums), default=0),
        optional=sum(len(each["properties"].keys() - each.get("required", ())) for each in objects),
        unions=sum(_is_union(member) for _, member in members),
    )


_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "properties": "members, of all objects together",
        "depth": "levels of nesting",
        "text": "characters of names and of values of enum and const",
        "enum_values": "values of all enums together",
        "enum_text": "characters of the values of one enum",
    }
)
"""What is counted, by the names of `SchemaLimits`."""


def beyond(counts: Counts, limits: SchemaLimits) -> str:
    """Return which limit *counts* are beyond, for a person, or ""."""
    for limit in fields(limits):
        most, found = getattr(limits, limit.name), getattr(counts, limit.name)
        if most is not None and found > most:
            return f"{found:,} {_LIMITS[limit.name]}, where {most:,} are taken"
    return ""


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str) else len(json.dumps(value))


def _length_of_large(values: list[Any]) -> int:
    strings = all(isinstance(value, str) for value in values)
    return sum(map(len, values)) if strings and len(values) > _LARGE_ENUM else 0


def _is_union(member: Part) -> bool:
    stated = member.keywords.get("type")
    return "anyOf" in member.keywords or (isinstance(stated, list) and len(stated) > 1)


def _depth(root: Part) -> int:
    """Return the objects and arrays on the longest way down from *root*.

    A way that leads back to a part above ends there. How deep a part is, is found once for
    all ways to it, so that on cycles the figure depends on where they are entered.
    """
    depths: dict[int, int] = {}
    above = {id(root)}
    stack = [(root, root.parts())]
    while stack:
        part, rest = stack[-1]
        if rest:
            below = rest.pop()
            if id(below) not in depths and id(below) not in above:
                above.add(id(below))
                stack.append((below, below.parts()))
            continue
        stack.pop()
        above.discard(id(part))
        within = max((depths.get(id(each), 0) for each in part.parts()), default=0)
        depths[id(part)] = within + _is_level(part)
    return depths[id(root)]


def _is_level(part: Part) -> bool:
    stated = part.keywords.get("type", ())
    nests = any(name in part.keywords for name in ("properties", "items", "prefixItems"))
    return nests or "object" in stated or "array" in stated
