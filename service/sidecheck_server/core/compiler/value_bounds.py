"""Bounds on the values that a schema in canonical form accepts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.schemas.canonical import Canonical, Constant

__all__ = ["Definitions", "ValueBounds", "infer_value_bounds", "list_constants", "type_kinds"]

_DEEPEST = 8
"""How many references and conjunctions are followed, nested in each other."""

_NUMERIC = frozenset({"number", "integer", "int"})


@dataclass(frozen=True, slots=True)
class ValueBounds:
    """A superset of the values that a schema accepts."""

    #: The types of the values; None if any.
    types: tuple[str, ...] | None = None
    #: The properties that all objects among the values have.
    required: frozenset[str] = frozenset()
    #: The strings, booleans or nulls to which the values of a property are limited.
    constants: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def intersect(self, other: "ValueBounds") -> "ValueBounds":
        """Return the bounds of the values that are within both."""
        return ValueBounds(
            self.types if other.types is None or _has_fewer_types(self, other) else other.types,
            self.required | other.required,
            {**other.constants, **self.constants},
        )


def _has_fewer_types(left: ValueBounds, right: ValueBounds) -> bool:
    return left.types is not None and type_kinds(left.types) <= type_kinds(right.types or ())


def type_kinds(types: Iterable[str]) -> frozenset[str]:
    """Return *types* with one name for all numbers, so that no two share a value."""
    return frozenset("number" if name in _NUMERIC else name for name in types)


class Definitions:
    """Definitions of a lowered schema, with a cache of their bounds."""

    def __init__(self, bodies: Mapping[str, Canonical]) -> None:
        self._bodies = bodies
        self._bounds: dict[tuple[str, int], ValueBounds] = {}

    def bounds(self, name: str, depth: int) -> ValueBounds:
        """Return the bounds of the definition *name*, found *depth* levels deep."""
        known = self._bounds.get((name, depth))
        if known is None:
            known = infer_value_bounds(self._bodies.get(name, True), self, depth)
            self._bounds[name, depth] = known
        return known


def infer_value_bounds(schema: Canonical, definitions: Definitions, depth: int = 0) -> ValueBounds:
    """Return the bounds of the values of *schema*, following references."""
    if isinstance(schema, bool):
        return ValueBounds() if schema else ValueBounds(types=())
    if depth > _DEEPEST:
        return ValueBounds()
    if "$ref" in schema:
        return definitions.bounds(schema["$ref"].rpartition("/")[2], depth + 1)
    properties = schema.get("properties", {}).items()
    constants = ((name, list_constants(subschema)) for name, subschema in properties)
    bounds = ValueBounds(
        _types(schema),
        frozenset(schema.get("required", ())),
        {name: values for name, values in constants if values is not None},
    )
    for conjunct in schema.get("allOf", ()):
        bounds = bounds.intersect(infer_value_bounds(conjunct, definitions, depth + 1))
    return bounds


def _types(schema: Mapping[str, Any]) -> tuple[str, ...] | None:
    if "type" in schema:
        return tuple(schema["type"])
    if "byType" in schema:
        return tuple(name for types, _ in schema["byType"] for name in types)
    values = schema.get("enum", [Constant(0)])
    if any(isinstance(value, Constant) for value in values):
        return None
    return tuple(dict.fromkeys(map(_type_of, values)))


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def list_constants(schema: Canonical) -> tuple[Any, ...] | None:
    """Return all values that *schema* accepts, or None if unknown or if one is a number."""
    values = None if isinstance(schema, bool) else schema.get("enum")
    # The same number has several spellings: 1 and 1.0.
    if values is None or not all(isinstance(value, str | bool | None) for value in values):
        return None
    types = schema.get("type") if isinstance(schema, dict) else None
    accepted = (value for value in values if types is None or _type_of(value) in types)
    return tuple(dict.fromkeys(accepted))
