"""Messages about whole values: of another type, or none of the constants that are allowed."""

from collections.abc import Set
from dataclasses import replace
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.differences import explain_difference
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.required import may_be_left_out
from sidecheck_server.core.explain.schemas import describe_schema, describe_types
from sidecheck_server.core.explain.types import Message
from sidecheck_server.core.explain.values import (
    Values,
    describe_choices,
    describe_kind,
    format_literal,
)

__all__ = [
    "explain_const",
    "explain_enum",
    "explain_not_allowed",
    "explain_type",
    "hint_at_json_text",
    "hint_at_null",
]

_MOST_COMPARED = 1000
"""How many allowed values are compared with the one that is wrong."""


def explain_not_allowed(allowed: list[Any], instance: Any, values: Values) -> Message:
    """Return the message for *instance*, which is none of the values *allowed*."""
    nearest = None if values.hidden else _find_nearest_value(instance, allowed)
    actual = values.format(instance)
    if isinstance(instance, dict | list) and actual in map(describe_kind, allowed):
        if len(allowed) == 1:
            return _explain_difference(allowed[0], instance, values)
        actual += " with other content"
    text = f"expected {describe_choices(allowed, nearest)}, found {actual}"
    if nearest is None:
        return Message(text)
    suggestion = nearest if isinstance(nearest, str) else format_literal(nearest)
    return Message(f"{text}; did you mean {format_literal(nearest)}?", suggestion)


def _find_nearest_value(value: Any, allowed: list[Any]) -> Any:
    """Return the one of *allowed* that *value* may stand for, even of another type."""
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
    """Return the message for a value of another type than ``type`` names."""
    types = fault.keyword_value
    expected = describe_types(types)
    if types == "array":
        # With the type of its items: a single item is the most frequent mistake.
        expected = describe_schema(fault.schema, fault.scope) or expected
    actual = values.describe(fault.instance)
    names = {types} if isinstance(types, str) else set(types)
    hint = hint_at_json_text(fault, names) + hint_at_null(fault)
    return Message(f"expected {expected}, found {actual}{hint}")


def hint_at_json_text(fault: Fault, types: Set[str]) -> str:
    """Return what to do about the text of an array or object where *types* are expected, or ""."""
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
    """Return what to do about a null for a property that the schema does not require, or ""."""
    # Many callers send null for a property that they mean to leave out.
    is_optional = fault.instance is None and may_be_left_out(fault)
    return "; leave it out if it is optional" if is_optional else ""


def explain_const(fault: Fault, values: Values) -> Message:
    """Return the message for another value than that of ``const``."""
    expected, actual = format_literal(fault.keyword_value), values.format(fault.instance)
    is_described = isinstance(fault.keyword_value, dict | list) and (
        isinstance(fault.instance, type(fault.keyword_value))
        and expected == describe_kind(fault.keyword_value)
    )
    if expected == actual or is_described:
        return _explain_difference(fault.keyword_value, fault.instance, values)
    return Message(f"expected {expected}, found {actual}")


def _explain_difference(expected: Any, instance: Any, values: Values) -> Message:
    """Return the message for *instance*, whose short form is that of *expected*."""
    kind = format_literal(expected)
    difference = explain_difference(expected, instance, values)
    return Message(difference or f"expected {kind}, found {kind} with other content")
