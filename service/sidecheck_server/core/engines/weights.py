"""Weights: the number of steps for applying a schema to one value.

Repeated work is charged where it happens and is not part of a weight: the body of a loop
for each item, a function for each call, a pattern for each text.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.schemas.canonical import Canonical, Constant
from sidecheck_server.core.types import JsonValue

__all__ = [
    "APPLICATION_STEPS",
    "ITERATION",
    "application_steps",
    "needs_budget",
    "schema_weight",
]

# Schemas in canonical form, for the fast engine

_BRANCH = 10
"""Steps of a failing branch: raising and catching cost as much as ten comparisons."""

_CALL = 3
_LOOP = 3

_MOST_UNCOUNTED = 10_000
"""Most steps of code without a budget, a quarter of a millisecond."""

ITERATION = 2
"""Steps of one iteration of a loop, without its body."""

_BOUND = 2
"""Steps of a bound: the type check and the comparison."""

#: Keywords whose work grows with the payload, or that call code with its own charges.
_UNBOUNDED = frozenset(
    {"$ref", "contains", "format", "multipleOf", "pattern", "propertyNames", "uniqueItems"}
)


def schema_weight(schema: Canonical, constants: Sequence[JsonValue]) -> int:
    """Return the steps of evaluating *schema* on one value, at least one."""
    if isinstance(schema, bool):
        return 1
    return 1 + sum(
        _WEIGHTS[keyword](value, constants)
        for keyword, value in schema.items()
        if keyword in _WEIGHTS
    )


def _constant_weight(value: JsonValue) -> int:
    """Return the steps of comparing a value with the constant *value*."""
    if isinstance(value, str):
        return 1 + len(value) // 64
    if isinstance(value, list):
        return 8 + sum(map(_constant_weight, value))
    if isinstance(value, dict):
        return 8 + sum(2 + _constant_weight(item) for item in value.values())
    return 2


def needs_budget(definitions: Sequence[Canonical], constants: Sequence[JsonValue]) -> bool:
    """Return whether code for *definitions* must charge its steps to a budget.

    Code without a budget is faster. Its work is small and the same for every payload.
    """
    if any(map(_is_unbounded, definitions)):
        return True
    return sum(schema_weight(schema, constants) for schema in definitions) > _MOST_UNCOUNTED


def _is_unbounded(schema: Canonical) -> bool:
    """Return whether the work of *schema* grows with the payload or includes calls."""
    if isinstance(schema, bool):
        return False
    if schema.keys() & _UNBOUNDED:
        return True
    items = schema.get("items", True)
    rest = schema.get("additionalItems", True) if isinstance(items, list) else items
    if not isinstance(rest, bool) or not isinstance(schema.get("additionalProperties", True), bool):
        return True
    # A loop over all properties of the value. A closed object without patterns needs none.
    if schema.get("patternProperties"):
        return True
    return any(map(_is_unbounded, _parts(schema)))


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
    return [*schema.get("byType", ()), *schema.get("byProperty", {"cases": ()})["cases"]]


_Weight = Callable[[Any, Sequence[JsonValue]], int]


def _listed(value: Sequence[object], _constants: Sequence[JsonValue]) -> int:
    return len(value)


def _enum(values: Sequence[Any], constants: Sequence[JsonValue]) -> int:
    compared = (constants[value.number] for value in values if isinstance(value, Constant))
    # Scalars cost nothing more: strings, and numbers if there are many, are compared by hash.
    return 8 + sum(map(_constant_weight, compared))


def _all(schemas: Sequence[Canonical], constants: Sequence[JsonValue]) -> int:
    return sum(schema_weight(schema, constants) for schema in schemas)


def _branches(schemas: Sequence[Canonical], constants: Sequence[JsonValue]) -> int:
    return _BRANCH * len(schemas) + _all(schemas, constants)


def _branch(schema: Canonical, constants: Sequence[JsonValue]) -> int:
    return _BRANCH + schema_weight(schema, constants)


def _properties(schemas: Mapping[str, Any], constants: Sequence[JsonValue]) -> int:
    return sum(
        1 + (len(schema) if isinstance(schema, list) else schema_weight(schema, constants))
        for schema in schemas.values()
    )


def _items(items: Any, constants: Sequence[JsonValue]) -> int:
    return _LOOP + (_all(items, constants) if isinstance(items, list) else 0)


def _by_type(cases: Sequence[Any], constants: Sequence[JsonValue]) -> int:
    # At most one branch is taken.
    tests = sum(len(types) for types, _ in cases)
    return tests + max(schema_weight(part, constants) for _, part in cases)


def _by_property(value: Mapping[str, Any], constants: Sequence[JsonValue]) -> int:
    cases = value["cases"]
    # Each test halves the cases.
    return 3 + len(cases).bit_length() + max(schema_weight(part, constants) for _, part in cases)


def _fixed(steps: int) -> _Weight:
    return lambda _value, _constants: steps


_WEIGHTS: Mapping[str, _Weight] = MappingProxyType(
    {
        "$ref": _fixed(_CALL),
        "additionalItems": _fixed(1),
        "additionalProperties": _fixed(_LOOP),
        "allOf": _all,
        "anyOf": _branches,
        "byProperty": _by_property,
        "byType": _by_type,
        "contains": _fixed(_LOOP),
        "dependencies": _properties,
        "else": _branch,
        "enum": _enum,
        "exclusiveMaximum": _fixed(_BOUND),
        "exclusiveMinimum": _fixed(_BOUND),
        "format": _fixed(_CALL),
        "if": _branch,
        "items": _items,
        "maxItems": _fixed(_BOUND),
        "maxLength": _fixed(_BOUND),
        "maxProperties": _fixed(_BOUND),
        "maximum": _fixed(_BOUND),
        "minItems": _fixed(_BOUND),
        "minLength": _fixed(_BOUND),
        "minProperties": _fixed(_BOUND),
        "minimum": _fixed(_BOUND),
        "multipleOf": _fixed(_CALL),
        "not": _branch,
        "oneOf": _branches,
        "pattern": _fixed(_CALL),
        "patternProperties": _fixed(_LOOP),
        "properties": _properties,
        "propertyNames": _fixed(_LOOP),
        "required": _listed,
        "then": _branch,
        "type": _listed,
        "uniqueItems": _fixed(_CALL),
    }
)


# Schemas in any dialect, for the complete engine

APPLICATION_STEPS = 100
"""Steps of applying a subschema, including one reported fault."""

_KEYWORD = 10
_PART = 4

_CONSTANT = 6
"""Steps for each constant of an ``enum``: one call of the comparison."""


def application_steps(schema: Any) -> int:
    """Return the steps of applying *schema* once, without its subschemas."""
    if isinstance(schema, bool):
        return APPLICATION_STEPS
    return APPLICATION_STEPS + sum(_keyword_steps(name, value) for name, value in schema.items())


def _keyword_steps(name: str, value: JsonValue) -> int:
    if name == "enum" and isinstance(value, list):
        return _KEYWORD + sum(_CONSTANT + _constant_weight(constant) for constant in value)
    if name == "const":
        return _KEYWORD + _constant_weight(value)
    # Required names, declared properties, branches of choices.
    return _KEYWORD + (_PART * len(value) if isinstance(value, list | dict) else 0)
