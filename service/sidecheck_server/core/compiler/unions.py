"""Simplification of unions, to avoid trying their branches one after the other.

A failing branch costs an exception. If the type of a value, or the value of one of its
properties, selects a branch, only this branch is evaluated. Such branches exclude each
other, so ``anyOf`` and ``oneOf`` are equivalent for them.

The analysis uses bounds on the types and constants that a branch accepts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.schemas.canonical import Canonical, Constant

__all__ = ["Definitions", "merge_branches", "simplify_unions"]

_DEEPEST = 8
"""Most nested references and conjunctions that the analysis follows."""

_NUMERIC = frozenset({"number", "integer", "int"})


@dataclass(frozen=True, slots=True)
class _ValueBounds:
    """A superset of the values that a schema accepts."""

    #: The types of the values; None for any type.
    types: tuple[str, ...] | None = None
    #: The properties that every object has.
    required: frozenset[str] = frozenset()
    #: The only strings, booleans or nulls that a property may have, by its name.
    constants: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def intersect(self, other: "_ValueBounds") -> "_ValueBounds":
        """Return bounds of the values within both."""
        return _ValueBounds(
            self.types if other.types is None or _has_fewer_types(self, other) else other.types,
            self.required | other.required,
            {**other.constants, **self.constants},
        )


def _has_fewer_types(left: _ValueBounds, right: _ValueBounds) -> bool:
    return left.types is not None and _type_kinds(left.types) <= _type_kinds(right.types or ())


def _type_kinds(types: Iterable[str]) -> frozenset[str]:
    """Return *types* with one name for all numbers, so that no two share a value."""
    return frozenset("number" if name in _NUMERIC else name for name in types)


class Definitions:
    """Definitions of a lowered schema, with a cache of their bounds."""

    def __init__(self, bodies: Mapping[str, Canonical]) -> None:
        self._bodies = bodies
        self._bounds: dict[tuple[str, int], _ValueBounds] = {}

    def bounds(self, name: str, depth: int) -> _ValueBounds:
        """Return the bounds of the definition *name*, at nesting level *depth*."""
        bounds = self._bounds.get((name, depth))
        if bounds is None:
            bounds = _infer_value_bounds(self._bodies.get(name, True), self, depth)
            self._bounds[name, depth] = bounds
        return bounds


def _infer_value_bounds(
    schema: Canonical, definitions: Definitions, depth: int = 0
) -> _ValueBounds:
    """Return the bounds of the values of *schema*, following references."""
    if isinstance(schema, bool):
        return _ValueBounds() if schema else _ValueBounds(types=())
    if depth > _DEEPEST:
        return _ValueBounds()
    if "$ref" in schema:
        return definitions.bounds(schema["$ref"].rpartition("/")[2], depth + 1)
    properties = schema.get("properties", {}).items()
    constants = ((name, _list_constants(subschema)) for name, subschema in properties)
    bounds = _ValueBounds(
        _types(schema),
        frozenset(schema.get("required", ())),
        {name: values for name, values in constants if values is not None},
    )
    for conjunct in schema.get("allOf", ()):
        bounds = bounds.intersect(_infer_value_bounds(conjunct, definitions, depth + 1))
    return bounds


def _types(schema: Mapping[str, Any]) -> tuple[str, ...] | None:
    if "type" in schema:
        return tuple(schema["type"])
    if "byType" in schema:
        return tuple(name for types, _ in schema["byType"] for name in types)
    values = schema.get("enum")
    # An object or array, written as a `Constant`, has a type that is not known here.
    if values is None or any(isinstance(value, Constant) for value in values):
        return None
    return tuple(dict.fromkeys(map(_type_of, values)))


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def _list_constants(schema: Canonical) -> tuple[Any, ...] | None:
    """Return all values that *schema* accepts; None if unknown or with numbers."""
    values = None if isinstance(schema, bool) else schema.get("enum")
    # One number has several spellings, such as 1 and 1.0.
    if values is None or not all(isinstance(value, str | bool | None) for value in values):
        return None
    types = schema.get("type") if isinstance(schema, dict) else None
    accepted = (value for value in values if types is None or _type_of(value) in types)
    return tuple(dict.fromkeys(accepted))


# Keywords that constrain only values of one type, by that type.
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
    """Return an equivalent schema that tries as few branches as possible.

    Subschemas are simplified too; *definitions*, the targets of references, are not.
    """
    if isinstance(schema, bool):
        return schema
    body = {name: _simplify_value(name, value, definitions) for name, value in schema.items()}
    unions = {name: body.pop(name) for name in ("anyOf", "oneOf") if name in body}
    bounds = _infer_value_bounds(body, definitions) if unions else _ValueBounds()
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


# Keywords whose values are a list of schemas, a map of schemas, or a schema.
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
    # The meaning of all other keywords may depend on their siblings.
    if union.keys() <= _INDEPENDENT and not union.keys() & siblings.keys():
        return {**siblings, **union}
    return {"allOf": [siblings, union]}


_INDEPENDENT = frozenset({"anyOf", "byProperty", "byType", "enum", "oneOf", "type"})


def _simplify_union(
    keyword: str, union: Sequence[Canonical], outer: _ValueBounds, definitions: Definitions
) -> Mapping[str, Any]:
    branches = list(_flatten(keyword, union))
    bounds = [_infer_value_bounds(branch, definitions).intersect(outer) for branch in branches]
    branches, bounds = _select_by_property(branches, bounds)
    plain = branches[0] if len(branches) == 1 else merge_branches(branches)
    if isinstance(plain, dict):
        return plain
    return _select_by_type(branches, bounds) or {keyword: branches}


def _flatten(keyword: str, union: Sequence[Canonical]) -> Iterator[Canonical]:
    """Yield all branches but ``false``, with the branches of nested ``anyOf``."""
    for branch in union:
        if isinstance(branch, dict) and branch.keys() == {"anyOf"} and keyword == "anyOf":
            yield from _flatten(keyword, branch["anyOf"])
        elif branch is not False and (branch is True or branch.get("not") not in (True, {})):
            yield branch


def _select_by_type(
    branches: Sequence[Canonical], bounds: Sequence[_ValueBounds]
) -> dict[str, Any] | None:
    """Return the ``byType`` of *branches*, or None if two of them share a type."""
    seen: set[str] = set()
    cases = []
    for branch, bound in zip(branches, bounds, strict=True):
        kinds = None if bound.types is None else _type_kinds(bound.types)
        if kinds is None or seen & kinds:
            return None
        if kinds:
            seen |= kinds
            cases.append([list(bound.types or ()), branch])
    return {"byType": cases} if len(cases) > 1 else None


def _select_by_property(
    branches: list[Canonical], bounds: list[_ValueBounds]
) -> tuple[list[Canonical], list[_ValueBounds]]:
    """Replace the branches that one property discriminates by one ``byProperty``.

    The property is the one that discriminates the most branches.
    """
    best: list[int] = []
    discriminator = ""
    names = dict.fromkeys(name for bound in bounds for name in bound.constants)
    for name in names:
        indexes = _find_discriminated_branches(name, bounds)
        if len(indexes) > len(best):
            best, discriminator = indexes, name
    if len(best) < 2:
        return branches, bounds
    cases = [
        [list(bounds[n].constants[discriminator]), _without_constants(discriminator, branches[n])]
        for n in best
    ]
    selection = {"type": ["object"], "byProperty": {"name": discriminator, "cases": cases}}
    other_indexes = [n for n in range(len(branches)) if n not in best]
    return (
        [*(branches[n] for n in other_indexes), selection],
        [*(bounds[n] for n in other_indexes), _ValueBounds(types=("object",))],
    )


def _find_discriminated_branches(name: str, bounds: Sequence[_ValueBounds]) -> list[int]:
    """Return the indexes of the object branches that the property *name* selects."""
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
    """Return *branch* without its constraint on the value of the property *name*."""
    if isinstance(branch, bool) or name not in branch.get("properties", ()):
        return branch
    rest = dict(branch)
    schema = branch["properties"][name]
    if _list_constants(schema) is not None and schema.keys() <= {"type", "enum"}:
        rest["properties"] = {**branch["properties"], name: True}
    return rest


def merge_branches(branches: Sequence[Canonical]) -> Canonical | None:
    """Return one schema without a union that is equivalent to *branches*, or None.

    The result is None unless the branches exclude each other, so that ``anyOf`` and
    ``oneOf`` are equivalent.
    """
    return _merge_types(branches) or _merge_enums(branches)


def _merge_types(branches: Sequence[Canonical]) -> Canonical | None:
    types: list[str] = []
    body: dict[str, Any] = {}
    for branch in branches:
        if not isinstance(branch, dict) or "type" not in branch:
            return None
        own_types = branch["type"]
        if _type_kinds(own_types) & _type_kinds(types):
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
        if "enum" not in branch or not all(isinstance(value, str) for value in branch["enum"]):
            return None
        values += dict.fromkeys(branch["enum"])
    return {"enum": values} if len(set(values)) == len(values) else None
