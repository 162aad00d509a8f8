"""Covers: what is known of every value that a schema in canonical form accepts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.schemas.canonical import Canonical, Constant

__all__ = ["Definitions", "ValueBounds", "cover_of", "kinds", "limits_of"]

_DEEPEST = 8
"""How many references and conjunctions are looked through."""

_NUMERIC = frozenset({"number", "integer", "int"})


@dataclass(frozen=True, slots=True)
class ValueBounds:
    """What is known of the values that a schema accepts; they may be fewer."""

    #: Names of types, of one of which each of them is; None if they may be of any.
    types: tuple[str, ...] | None = None
    #: Members that each object among them has.
    required: frozenset[str] = frozenset()
    #: The strings, booleans or nulls to which a member is limited where there is one.
    constants: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def both(self, other: "ValueBounds") -> "ValueBounds":
        """Return the cover of the values that obey both schemas."""
        return ValueBounds(
            self.types if other.types is None or _narrower(self, other) else other.types,
            self.required | other.required,
            {**other.constants, **self.constants},
        )


def _narrower(one: ValueBounds, other: ValueBounds) -> bool:
    return one.types is not None and kinds(one.types) <= kinds(other.types or ())


def kinds(types: Iterable[str]) -> frozenset[str]:
    """Return *types* with one name for all numbers: then no two have a value in common."""
    return frozenset("number" if name in _NUMERIC else name for name in types)


class Definitions:
    """Definitions by name, each of which is looked at once, however many refer to it."""

    def __init__(self, bodies: Mapping[str, Canonical]) -> None:
        self._bodies = bodies
        self._covers: dict[tuple[str, int], ValueBounds] = {}

    def cover(self, name: str, depth: int) -> ValueBounds:
        """Return what is known of the values of the definition *name*, *depth* levels in."""
        known = self._covers.get((name, depth))
        if known is None:
            known = cover_of(self._bodies.get(name, True), self, depth)
            self._covers[name, depth] = known
        return known


def cover_of(schema: Canonical, definitions: Definitions, depth: int = 0) -> ValueBounds:
    """Return what is known of the values of *schema*, looking through references."""
    if isinstance(schema, bool):
        return ValueBounds() if schema else ValueBounds(types=())
    if depth > _DEEPEST:
        return ValueBounds()
    if "$ref" in schema:
        return definitions.cover(schema["$ref"].rpartition("/")[2], depth + 1)
    members = schema.get("properties", {}).items()
    limited = ((name, limits_of(member)) for name, member in members)
    known = ValueBounds(
        _types(schema),
        frozenset(schema.get("required", ())),
        {name: values for name, values in limited if values is not None},
    )
    for conjunct in schema.get("allOf", ()):
        known = known.both(cover_of(conjunct, definitions, depth + 1))
    return known


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


def limits_of(member: Canonical) -> tuple[Any, ...] | None:
    """Return all values that *member* can accept if there are few, and none is a number."""
    values = None if isinstance(member, bool) else member.get("enum")
    # Among numbers, 1 and 1.0 are one and the same.
    if values is None or not all(isinstance(value, str | bool | None) for value in values):
        return None
    types = member.get("type") if isinstance(member, dict) else None
    fitting = (value for value in values if types is None or _type_of(value) in types)
    return tuple(dict.fromkeys(fitting))
