"""Messages for values of a wrong type, or other than the allowed constants."""

from collections.abc import Set
from dataclasses import replace
from itertools import islice
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.scope import Scope
from sidecheck_server.core.engines.weights import APPLICATION_STEPS
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.schemas import describe_schema, describe_types, schema_parts
from sidecheck_server.core.explain.values import (
    LONGEST,
    Message,
    Values,
    describe_choices,
    describe_kind,
    format_literal,
    quote,
)
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.limits import spend
from sidecheck_server.core.types import as_pointer

__all__ = [
    "explain_const",
    "explain_enum",
    "explain_not_allowed",
    "explain_type",
    "hint_at_json_text",
    "hint_at_null",
]

_MOST_COMPARED = 1000
"""Most allowed values, properties or items that are compared with those of the payload."""


def explain_not_allowed(allowed: list[Any], instance: Any, values: Values) -> Message:
    """Return the message for *instance*, which is not among the values *allowed*."""
    nearest = None if values.hidden else _find_nearest_value(instance, allowed)
    actual = values.format(instance)
    if isinstance(instance, dict | list) and actual in map(describe_kind, allowed):
        if len(allowed) == 1:
            return _explain_same_form(allowed[0], instance, values)
        actual += " with other content"
    text = f"expected {describe_choices(allowed, nearest)}, found {actual}"
    if nearest is None:
        return Message(text)
    suggestion = nearest if isinstance(nearest, str) else format_literal(nearest)
    return Message(f"{text}; did you mean {format_literal(nearest)}?", suggestion)


def _find_nearest_value(value: Any, allowed: list[Any]) -> Any:
    """Return the allowed value nearest to *value*, possibly of another type, or None."""
    if isinstance(value, dict | list | None):
        return None
    text = value if isinstance(value, str) else format_literal(value)
    for choice in allowed[:_MOST_COMPARED]:
        if isinstance(choice, str) != isinstance(value, str) and not isinstance(
            choice, dict | list
        ):
            choice_text = choice if isinstance(choice, str) else format_literal(choice)
            if choice_text.casefold() == text.casefold():
                return choice
    if not isinstance(value, str):
        return None
    strings = (choice for choice in allowed[:_MOST_COMPARED] if isinstance(choice, str))
    return find_nearest(value, strings) or None


def explain_type(fault: Fault, values: Values) -> Message:
    """Return the message for a value without a type that ``type`` names."""
    types = fault.keyword_value
    expected = describe_types(types)
    if types == "array":
        # Name the type of the items: the most frequent mistake is to pass a single item.
        expected = describe_schema(fault.schema, fault.scope) or expected
    actual = values.describe(fault.instance)
    names = {types} if isinstance(types, str) else set(types)
    hint = hint_at_json_text(fault, names) + hint_at_null(fault)
    return Message(f"expected {expected}, found {actual}{hint}")


def hint_at_json_text(fault: Fault, types: Set[str]) -> str:
    """Return the hint for a JSON text in place of an array or object, or ""."""
    text = fault.instance
    is_container = isinstance(text, str) and text.startswith(("[", "{"))
    if not is_container or "string" in types or types.isdisjoint({"array", "object"}):
        return ""
    return "; pass the JSON itself, not a string that contains it"


def explain_enum(fault: Fault, values: Values) -> Message:
    """Return the message for a value that ``enum`` does not list."""
    message = explain_not_allowed(fault.keyword_value, fault.instance, values)
    return replace(message, text=message.text + hint_at_null(fault))


def hint_at_null(fault: Fault) -> str:
    """Return the hint for a null in an optional property, or ""."""
    # Many callers send null to omit a property.
    is_optional = fault.instance is None and _may_be_left_out(fault)
    return "; leave it out if it is optional" if is_optional else ""


def explain_const(fault: Fault, values: Values) -> Message:
    """Return the message for a value that differs from ``const``."""
    expected, actual = format_literal(fault.keyword_value), values.format(fault.instance)
    is_described = isinstance(fault.keyword_value, dict | list) and (
        isinstance(fault.instance, type(fault.keyword_value))
        and expected == describe_kind(fault.keyword_value)
    )
    if expected == actual or is_described:
        return _explain_same_form(fault.keyword_value, fault.instance, values)
    return Message(f"expected {expected}, found {actual}")


def _explain_same_form(expected: Any, instance: Any, values: Values) -> Message:
    """Return the message for *instance* if its short form equals that of *expected*."""
    kind = format_literal(expected)
    difference = _explain_difference(expected, instance, values)
    return Message(difference or f"expected {kind}, found {kind} with other content")


_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
"""Keywords whose subschemas have names."""
_LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose subschemas have indexes."""
_OF_PROPERTIES = frozenset(
    {"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"}
)
"""Keywords whose subschemas apply to properties of the value."""
_OF_ITEMS = frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems"})
"""Keywords whose subschemas apply to items of the value."""


def _may_be_left_out(fault: Fault) -> bool:
    """Return whether *fault* is in the value of a property that no schema requires.

    It considers the schemas on the path to the fault, with their ``$ref`` and ``allOf``.

    Raises:
        Exhausted: the budget of *fault* has too few steps.
    """
    path = fault.absolute_path
    if not path or not isinstance(path[-1], str):
        return False
    try:
        parent_schemas = _find_parent_schemas(fault)
    except LookupError:
        return False  # The path has other steps than keywords, as in a protocol message.
    name = path[-1]
    return bool(parent_schemas) and not any(
        name in part.get("required", list)
        for schema, scope in parent_schemas
        for part in schema_parts(schema, scope)
    )


def _find_parent_schemas(fault: Fault) -> list[tuple[Any, Scope]]:
    """Return the schemas on the path to *fault* that apply to the parent object.

    Empty if the path contains a dynamic reference.

    Raises:
        LookupError: the path has other steps than keywords.
    """
    scope = fault.scope.within(fault.scope.resources.root)
    schema: Any = scope.resource.contents
    applied: list[tuple[Any, Scope]] = []
    parent_schemas: list[tuple[Any, Scope]] = []
    steps = iter(fault.absolute_schema_path)
    for keyword in steps:
        spend(scope.budget, APPLICATION_STEPS)
        if not isinstance(schema, dict):
            return []
        scope = scope.enter(schema)
        applied.append((schema, scope))
        if schema is fault.schema and keyword == fault.keyword:
            break
        if keyword == "$ref":
            schema, scope = scope.follow(schema["$ref"])
            continue
        schema = schema[keyword]
        if keyword in _NAMED or keyword in _LISTED or isinstance(schema, list):
            schema = schema[next(steps)]
        if keyword in _OF_PROPERTIES:
            parent_schemas, applied = applied, []
        elif keyword in _OF_ITEMS:
            parent_schemas, applied = [], []
    return parent_schemas


_DEEPEST = 8
"""Most levels at which a difference is searched for."""


def _explain_difference(expected: Any, actual: Any, values: Values) -> str:
    """Describe the first difference of *actual* from *expected*, a part of a schema.

    "" if there is none within limits of depth and width.
    """
    path: list[str | int] = []
    while len(path) < _DEEPEST:
        step = _find_step(expected, actual)
        if step is None:
            break
        path.append(step)
        if isinstance(expected, dict):
            if step not in actual:
                return f"expected {quote(str(step))}{_at(path[:-1])}, which is missing"
            if step not in expected:
                unknown = values.property_named(str(step))
                return f"expected no other properties{_at(path[:-1])}, found {unknown}"
        expected, actual = expected[step], actual[step]
    if isinstance(expected, str) and isinstance(actual, str) and expected != actual:
        return _explain_texts(expected, actual, path, values)
    expected_text, actual_text = format_literal(expected), values.format(actual)
    if expected_text == actual_text:
        return ""
    return f"expected {expected_text}{_at(path)}, found {actual_text}"


def _at(path: list[str | int]) -> str:
    return f" at {as_pointer(path)}" if path else ""


def _find_step(expected: Any, actual: Any) -> str | int | None:
    """Return the property or index at which two objects or arrays differ, or None."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        names = [*islice(expected, _MOST_COMPARED), *islice(actual, _MOST_COMPARED)]
        return next((name for name in names if _differ_at(name, expected, actual)), None)
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = enumerate(zip(expected, actual, strict=True))
        different = (index for index, pair in pairs if not json_equal(*pair))
        return next(islice(different, 1), None)
    return None


def _differ_at(name: str, expected: dict[str, Any], actual: dict[str, Any]) -> bool:
    if name not in expected or name not in actual:
        return True
    return not json_equal(expected[name], actual[name])


def _explain_texts(expected: str, actual: str, path: list[str | int], values: Values) -> str:
    """Describe the first difference of two long texts."""
    shorter = min(len(expected), len(actual))
    pairs = zip(expected, actual, strict=False)
    start = next((index for index, (left, right) in enumerate(pairs) if left != right), shorter)
    expected_text = f"{quote(expected[start : start + LONGEST])} from character {start + 1} on"
    if start == len(expected):
        expected_text = f"no more than {start} characters"
    actual_text = "other text" if values.hidden else quote(actual[start : start + LONGEST])
    return f"expected {expected_text}{_at(path)}, found {actual_text}"
