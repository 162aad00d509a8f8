"""Simplification of unions, so that branches need not be tried one after the other.

A branch that fails costs an exception. Where the type of a value, or the value of one
of its properties, selects the branch, only that one is evaluated. No value matches two
such branches, so ``anyOf`` and ``oneOf`` mean the same for them.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.compiler.value_bounds import (
    Definitions,
    ValueBounds,
    infer_value_bounds,
    list_constants,
    type_kinds,
)
from sidecheck_server.core.schemas.canonical import Canonical

__all__ = ["merge_branches", "simplify_unions"]


# The keywords that accept all values of any other type.
_KEYWORDS_OF_TYPE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
        "array": frozenset({"items", "additionalItems", "minItems", "maxItems", "uniqueItems"}),
        "object": frozenset(
            {
                "byProperty",
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


def simplify_unions(schema: Canonical, definitions: Definitions) -> Canonical:
    """Return a schema that accepts the same values and tries as few branches as possible.

    Subschemas are simplified too; *definitions*, to which references lead, are not.
    """
    if isinstance(schema, bool):
        return schema
    body = {name: _simplify_value(name, value, definitions) for name, value in schema.items()}
    unions = {name: body.pop(name) for name in ("anyOf", "oneOf") if name in body}
    bounds = infer_value_bounds(body, definitions) if unions else ValueBounds()
    for keyword, branches in unions.items():
        body = _join(body, _simplify_union(keyword, branches, bounds, definitions))
    return body


def _simplify_value(keyword: str, value: Any, definitions: Definitions) -> Any:
    if keyword in _SCHEMAS and isinstance(value, list):
        return [simplify_unions(schema, definitions) for schema in value]
    if keyword in _SCHEMA_MAPS:
        return {
            name: schema if isinstance(schema, list) else simplify_unions(schema, definitions)
            for name, schema in value.items()
        }
    return simplify_unions(value, definitions) if keyword in _SCHEMA else value


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


def _join(siblings: dict[str, Any], union: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conjunction of *siblings* and *union*."""
    if "type" in siblings and set(siblings["type"]) <= set(union.get("type", ())):
        union = {name: value for name, value in union.items() if name != "type"}
    if not siblings:
        return dict(union)
    # The meaning of other keywords may depend on their siblings.
    if union.keys() <= _INDEPENDENT and not union.keys() & siblings.keys():
        return {**siblings, **union}
    return {"allOf": [siblings, union]}


_INDEPENDENT = frozenset({"anyOf", "byProperty", "byType", "enum", "oneOf", "type"})


def _simplify_union(
    keyword: str, union: Sequence[Canonical], outer: ValueBounds, definitions: Definitions
) -> Mapping[str, Any]:
    branches = list(_flatten(keyword, union))
    bounds = [infer_value_bounds(branch, definitions).intersect(outer) for branch in branches]
    branches, bounds = _select_by_property(branches, bounds)
    plain = branches[0] if len(branches) == 1 else merge_branches(branches)
    if isinstance(plain, dict):
        return plain
    return _select_by_type(branches, bounds) or {keyword: branches}


def _flatten(keyword: str, union: Sequence[Canonical]) -> Iterator[Canonical]:
    """Yield the branches that may accept something, with those of nested ``anyOf``."""
    for branch in union:
        if isinstance(branch, dict) and branch.keys() == {"anyOf"} and keyword == "anyOf":
            yield from _flatten(keyword, branch["anyOf"])
        elif branch is not False and (branch is True or branch.get("not") not in (True, {})):
            yield branch


def _select_by_type(
    branches: Sequence[Canonical], bounds: Sequence[ValueBounds]
) -> dict[str, Any] | None:
    """Return the ``byType`` of *branches*, or None if two of them share a type."""
    seen: set[str] = set()
    cases = []
    for branch, bound in zip(branches, bounds, strict=True):
        kinds = None if bound.types is None else type_kinds(bound.types)
        if kinds is None or seen & kinds:
            return None
        if kinds:
            seen |= kinds
            cases.append([list(bound.types or ()), branch])
    return {"byType": cases} if len(cases) > 1 else None


def _select_by_property(
    branches: list[Canonical], bounds: list[ValueBounds]
) -> tuple[list[Canonical], list[ValueBounds]]:
    """Replace as many branches as one property can discriminate by one ``byProperty``."""
    best: list[int] = []
    discriminator = ""
    names = dict.fromkeys(name for bound in bounds for name in bound.constants)
    for name in names:
        indexes = _discriminated(name, bounds)
        if len(indexes) > len(best):
            best, discriminator = indexes, name
    if len(best) < 2:
        return branches, bounds
    cases = [
        [list(bounds[n].constants[discriminator]), _without_constants(discriminator, branches[n])]
        for n in best
    ]
    selection = {"type": ["object"], "byProperty": {"name": discriminator, "cases": cases}}
    others = [n for n in range(len(branches)) if n not in best]
    return (
        [*(branches[n] for n in others), selection],
        [*(bounds[n] for n in others), ValueBounds(types=("object",))],
    )


def _discriminated(name: str, bounds: Sequence[ValueBounds]) -> list[int]:
    """Return the indexes of the object branches with distinct values of the property *name*."""
    indexes = []
    seen: set[tuple[bool, Any]] = set()
    for index, bound in enumerate(bounds):
        if bound.types != ("object",) or name not in bound.required:
            continue
        values = {(isinstance(value, bool), value) for value in bound.constants.get(name, ())}
        if values and not values & seen:
            seen |= values
            indexes.append(index)
    return indexes


def _without_constants(name: str, branch: Canonical) -> Canonical:
    """Return *branch* without its demand on the value of the property *name*."""
    if isinstance(branch, bool) or name not in branch.get("properties", ()):
        return branch
    rest = dict(branch)
    schema = branch["properties"][name]
    if list_constants(schema) is not None and schema.keys() <= {"type", "enum"}:
        rest["properties"] = {**branch["properties"], name: True}
    return rest


def merge_branches(branches: Sequence[Canonical]) -> Canonical | None:
    """Return one schema without a union that accepts the same as *branches*, or None.

    It needs branches that exclude each other, so it serves ``anyOf`` and ``oneOf``.
    """
    return _merge_types(branches) or _merge_enums(branches)


def _merge_types(branches: Sequence[Canonical]) -> Canonical | None:
    types: list[str] = []
    body: dict[str, Any] = {}
    for branch in branches:
        if not isinstance(branch, dict) or "type" not in branch:
            return None
        own_types = branch["type"]
        if type_kinds(own_types) & type_kinds(types):
            return None
        allowed = frozenset({"type"}).union(*(_KEYWORDS_OF_TYPE[name] for name in own_types))
        if not branch.keys() <= allowed:
            return None
        types += own_types
        body |= branch
    return {**body, "type": types}


def _merge_enums(branches: Sequence[Canonical]) -> Canonical | None:
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
