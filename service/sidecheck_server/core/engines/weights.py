"""Weights: how many steps it takes to judge one value by a schema in canonical form.

What a payload can repeat is left out, since it is paid for where it happens: the body
of a loop for each item, a function for each call, a pattern for each text.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.schemas.canonical import Canonical, Constant
from sidecheck_server.core.types import JsonValue

__all__ = ["constant_weight", "is_unbounded", "schema_weight"]

_BRANCH = 10
"""Raising and catching what makes a branch fail costs as much as ten comparisons."""

_CALL = 3
_LOOP = 3

#: The keywords whose work grows with the payload, or that call what counts for itself.
_UNBOUNDED = frozenset(
    {"$ref", "contains", "format", "multipleOf", "pattern", "propertyNames", "uniqueItems"}
)


def schema_weight(schema: Canonical, constants: Sequence[JsonValue]) -> int:
    """Return how many steps *schema* takes on one value, at least one."""
    if isinstance(schema, bool):
        return 1
    return 1 + sum(
        _WEIGHTS[keyword](value, constants)
        for keyword, value in schema.items()
        if keyword in _WEIGHTS
    )


def constant_weight(value: JsonValue) -> int:
    """Return how many steps it takes to compare something with *value*."""
    if isinstance(value, str):
        return 1 + len(value) // 64
    if isinstance(value, list):
        return 4 + sum(map(constant_weight, value))
    if isinstance(value, dict):
        return 4 + sum(2 + constant_weight(member) for member in value.values())
    return 2


def is_unbounded(schema: Canonical) -> bool:
    """Return whether the work of *schema* grows with the payload or is not all its own."""
    if isinstance(schema, bool):
        return False
    if schema.keys() & _UNBOUNDED:
        return True
    items = schema.get("items", True)
    rest = schema.get("additionalItems", True) if isinstance(items, list) else items
    if not isinstance(rest, bool) or not isinstance(schema.get("additionalProperties", True), bool):
        return True
    # All members are gone through; but those of closed objects are no more than the known ones.
    if schema.get("patternProperties"):
        return True
    return any(map(is_unbounded, _parts(schema)))


def _parts(schema: Mapping[str, Any]) -> list[Canonical]:
    parts: list[Canonical] = []
    for keyword in ("allOf", "anyOf", "oneOf", "items"):
        value = schema.get(keyword)
        if isinstance(value, list):
            parts += value
    for keyword in ("properties", "dependencies"):
        parts += [part for part in schema.get(keyword, {}).values() if not isinstance(part, list)]
    parts += [part for _, part in _cases(schema)]
    parts += [schema[keyword] for keyword in ("not", "if", "then", "else") if keyword in schema]
    return parts


def _cases(schema: Mapping[str, Any]) -> list[Any]:
    return [*schema.get("byType", ()), *schema.get("byMember", {"cases": ()})["cases"]]


_Weight = Callable[[Any, Sequence[JsonValue]], int]


def _listed(value: Sequence[object], _constants: Sequence[JsonValue]) -> int:
    return len(value)


def _enum(values: Sequence[Any], constants: Sequence[JsonValue]) -> int:
    compared = (constants[value.number] for value in values if isinstance(value, Constant))
    # More than a few numbers are compared as texts.
    return 8 + sum(map(constant_weight, compared))


def _all(schemas: Sequence[Canonical], constants: Sequence[JsonValue]) -> int:
    return sum(schema_weight(schema, constants) for schema in schemas)


def _branches(schemas: Sequence[Canonical], constants: Sequence[JsonValue]) -> int:
    return _BRANCH * len(schemas) + _all(schemas, constants)


def _branch(schema: Canonical, constants: Sequence[JsonValue]) -> int:
    return _BRANCH + schema_weight(schema, constants)


def _members(members: Mapping[str, Any], constants: Sequence[JsonValue]) -> int:
    return sum(
        1 + (len(part) if isinstance(part, list) else schema_weight(part, constants))
        for part in members.values()
    )


def _items(items: Any, constants: Sequence[JsonValue]) -> int:
    return _LOOP + (_all(items, constants) if isinstance(items, list) else 0)


def _by_type(cases: Sequence[Any], constants: Sequence[JsonValue]) -> int:
    # Of all the branches, one at most is taken.
    tests = sum(len(types) for types, _ in cases)
    return tests + max(schema_weight(part, constants) for _, part in cases)


def _by_member(told: Mapping[str, Any], constants: Sequence[JsonValue]) -> int:
    cases = told["cases"]
    # Each test halves the cases.
    return 3 + len(cases).bit_length() + max(schema_weight(part, constants) for _, part in cases)


def _one(steps: int) -> _Weight:
    return lambda _value, _constants: steps


_WEIGHTS: Mapping[str, _Weight] = MappingProxyType(
    {
        "$ref": _one(_CALL),
        "additionalItems": _one(1),
        "additionalProperties": _one(_LOOP),
        "allOf": _all,
        "anyOf": _branches,
        "byMember": _by_member,
        "byType": _by_type,
        "contains": _one(_LOOP),
        "dependencies": _members,
        "else": _branch,
        "enum": _enum,
        "exclusiveMaximum": _one(1),
        "exclusiveMinimum": _one(1),
        "format": _one(_CALL),
        "if": _branch,
        "items": _items,
        "maxItems": _one(1),
        "maxLength": _one(1),
        "maxProperties": _one(1),
        "maximum": _one(1),
        "minItems": _one(1),
        "minLength": _one(1),
        "minProperties": _one(1),
        "minimum": _one(1),
        "multipleOf": _one(_CALL),
        "not": _branch,
        "oneOf": _branches,
        "pattern": _one(_CALL),
        "patternProperties": _one(_LOOP),
        "properties": _members,
        "propertyNames": _one(_LOOP),
        "required": _listed,
        "then": _branch,
        "type": _listed,
        "uniqueItems": _one(_CALL),
    }
)
