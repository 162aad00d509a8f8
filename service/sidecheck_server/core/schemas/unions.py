"""Unions that can be judged without trying their branches one after the other.

A branch that fails costs an exception. Where the branches accept disjoint types,
or are enumerations of strings, one plain schema accepts the same payloads.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.schemas.canonical import Canonical

__all__ = ["merged"]

# The keywords that say nothing about values of any other type.
_OF_TYPE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
        "array": frozenset({"items", "additionalItems", "minItems", "maxItems", "uniqueItems"}),
        "object": frozenset(
            {
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
_NUMERIC = frozenset({"number", "integer", "int"})


def merged(branches: Sequence[Canonical]) -> Canonical | None:
    """Return a schema that accepts what an ``anyOf`` or ``oneOf`` of *branches* accepts.

    None if there is none that is simpler. As the branches exclude each other, both
    keywords mean the same.
    """
    return _merged_types(branches) or _merged_enums(branches)


def _merged_types(branches: Sequence[Canonical]) -> Canonical | None:
    types: list[str] = []
    body: dict[str, Any] = {}
    for branch in branches:
        if not isinstance(branch, dict) or "type" not in branch:
            return None
        own = branch["type"]
        covers = {"number" if name in _NUMERIC else name for name in own}
        if covers & {"number" if name in _NUMERIC else name for name in types}:
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
