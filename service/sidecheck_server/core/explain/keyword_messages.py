"""What to say of a value that is not as a keyword wants it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.schemas import (
    FORMATS,
    MOST_BRANCHES,
    describe_schema,
    describe_types,
    schema_parts,
)
from sidecheck_server.core.explain.values import (
    Values,
    count_noun,
    describe_choices,
    format_literal,
    join_phrase,
    quote,
)

__all__ = [
    "ITEM_RULES",
    "PROPERTY_RULES",
    "VALUE_RULES",
    "Message",
    "MessageRule",
    "describe_in_parentheses",
    "explain_not_allowed",
    "format_pattern",
    "is_property_value",
]

_LONGEST_PATTERN = 120


@dataclass(frozen=True, slots=True)
class Message:
    """What there is to say of a fault."""

    message: str
    suggestion: str = ""


MessageRule = Callable[[Fault, Values], Message]
"""Puts the faults of one keyword into words."""


def is_property_value(fault: Fault) -> bool:
    """Return whether the value of *fault* stands in an object."""
    path = fault.absolute_path
    return bool(path) and isinstance(path[-1], str)


def describe_in_parentheses(schema: Any, fault: Fault) -> str:
    """Return what *schema*, a subschema at the fault, asks for, in parentheses."""
    described = describe_schema(schema, fault.scope, 1)
    return f" ({described})" if described else ""


def format_pattern(pattern: str) -> str:
    """Return *pattern*, cut if it is long."""
    if len(pattern) > _LONGEST_PATTERN:
        pattern = pattern[: _LONGEST_PATTERN - 1] + "…"
    return pattern if pattern.isprintable() else quote(pattern)


_MOST_COMPARED = 1000


def _type(fault: Fault, values: Values) -> Message:
    expected = describe_types(fault.validator_value)
    if fault.validator_value == "array":
        # Which items, since one of them is what is often found in its place.
        expected = describe_schema(fault.schema, fault.scope) or expected
    found = values.found(fault.instance)
    if isinstance(fault.instance, str) and fault.instance[:1] in "[{" and fault.instance:
        wanted = fault.validator_value
        if {"array", "object"} & set([wanted] if isinstance(wanted, str) else wanted):
            found += "; pass the JSON itself, not a string that contains it"
    return Message(f"expected {expected}, found {found}{_instead(fault)}")


def _enum(fault: Fault, values: Values) -> Message:
    saying = explain_not_allowed(fault.validator_value, fault.instance, values)
    return replace(saying, message=saying.message + _instead(fault))


def _instead(fault: Fault) -> str:
    """Return what to do about a member that is null, which many take for absent."""
    null = fault.instance is None and is_property_value(fault)
    return "; leave it out if it is optional" if null else ""


def explain_not_allowed(allowed: list[Any], instance: Any, values: Values) -> Message:
    """Return what to say of *instance*, which is none of the values *allowed*."""
    near = None if values.hidden else _near(instance, allowed)
    message = f"expected {describe_choices(allowed, near)}, found {values.plain(instance)}"
    if near is None:
        return Message(message)
    suggestion = near if isinstance(near, str) else format_literal(near)
    return Message(f"{message}; did you mean {format_literal(near)}?", suggestion)


def _near(value: Any, allowed: list[Any]) -> Any:
    """Return the one of *allowed* that *value* may stand for, perhaps of another type."""
    if isinstance(value, dict | list | None):
        return None
    text = value if isinstance(value, str) else format_literal(value)
    for each in allowed[:_MOST_COMPARED]:
        if isinstance(each, str) != isinstance(value, str) and not isinstance(each, dict | list):
            other = each if isinstance(each, str) else format_literal(each)
            if other.casefold() == text.casefold():
                return each
    if not isinstance(value, str):
        return None
    strings = (each for each in allowed[:_MOST_COMPARED] if isinstance(each, str))
    return find_nearest(value, strings) or None


def _const(fault: Fault, values: Values) -> Message:
    expected, found = format_literal(fault.validator_value), values.plain(fault.instance)
    if expected == found:
        return Message(f"expected a certain value, found another: {found}")
    return Message(f"expected {expected}, found {found}")


def _too_many(noun: str) -> MessageRule:
    return _size("at most", noun)


def _too_few(noun: str) -> MessageRule:
    return _size("at least", noun)


def _size(bound: str, noun: str) -> MessageRule:
    def rule(fault: Fault, values: Values) -> Message:
        size = len(fault.instance)
        found = format_literal(size) if size else values.found(fault.instance)
        return Message(f"expected {bound} {count_noun(fault.validator_value, noun)}, found {found}")

    return rule


def _bound(words: str, exclusive: str = "", strict: str = "") -> MessageRule:
    def rule(fault: Fault, values: Values) -> Message:
        # In draft 4 a boolean beside the bound excludes it.
        used = strict if exclusive and fault.schema.get(exclusive) is True else words
        bound = format_literal(fault.validator_value)
        return Message(f"expected {used} {bound}, found {values.plain(fault.instance)}")

    return rule


def _multiple(fault: Fault, values: Values) -> Message:
    divisor = format_literal(fault.validator_value)
    return Message(f"expected a multiple of {divisor}, found {values.plain(fault.instance)}")


def _pattern(fault: Fault, values: Values) -> Message:
    pattern, found = format_pattern(fault.validator_value), values.plain(fault.instance)
    return Message(f"expected a string that matches the pattern {pattern}, found {found}")


def _format(fault: Fault, values: Values) -> Message:
    name = fault.validator_value
    expected = FORMATS.get(name) or f"a string of the format {quote(name)}"
    return Message(f"expected {expected}, found {values.plain(fault.instance)}")


VALUE_RULES: dict[str, MessageRule] = {
    "const": _const,
    "enum": _enum,
    "exclusiveMaximum": _bound("less than"),
    "exclusiveMinimum": _bound("more than"),
    "format": _format,
    "maxItems": _too_many("item"),
    "maxLength": _too_many("character"),
    "maxProperties": _too_many("property"),
    "maximum": _bound("at most", "exclusiveMaximum", "less than"),
    "minItems": _too_few("item"),
    "minLength": _too_few("character"),
    "minProperties": _too_few("property"),
    "minimum": _bound("at least", "exclusiveMinimum", "more than"),
    "multipleOf": _multiple,
    "pattern": _pattern,
    "type": _type,
}
"""The rules by keyword."""


_MOST_NAMES = 8
_MEMBER_MESSAGES_MOST_COMPARED = 1000


def _required(fault: Fault, values: Values) -> Message:
    name = fault.about
    message = f"{quote(name)} is required and missing"
    wanted = _property(fault, name)
    if wanted:
        message += f"; expected {wanted}"
    near = find_nearest(name, _undeclared(fault)) if wanted and not values.hidden else ""
    if near:
        message += f"; perhaps {quote(near)} was meant to be {quote(name)}"
    return Message(message, near)


def _property(fault: Fault, name: str) -> str:
    for part in schema_parts(fault.schema, fault.scope):
        member = part.get("properties", dict).get(name)
        if isinstance(member, dict):
            return describe_schema(member, part.scope)
    return ""


def _undeclared(fault: Fault) -> Iterator[str]:
    declared = set(_declared(fault))
    return (name for name in fault.instance if name not in declared)


def _declared(fault: Fault) -> Iterator[str]:
    if fault.validator == "additionalProperties":
        # It sees no further (2020-12 core, section 10.3.2.3).
        yield from fault.schema.get("properties", ())
        return
    for part in schema_parts(fault.schema, fault.scope):
        yield from part.get("properties", dict)
        # A choice may declare more.
        branches = (*part.get("anyOf", list), *part.get("oneOf", list))
        for branch in branches[:MOST_BRANCHES]:
            for inner in schema_parts(branch, part.scope):
                yield from inner.get("properties", dict)


def _unknown(fault: Fault, values: Values) -> Message:
    named = values.property_named(fault.about)
    known = list(dict.fromkeys(islice(_declared(fault), _MEMBER_MESSAGES_MOST_COMPARED)))
    if fault.about in known:
        return Message(f"{named} is not allowed in combination with the others")
    near = find_nearest(fault.about, (name for name in known if name not in fault.instance))
    if near:
        return Message(f"unknown {named}; did you mean {quote(near)}?", near)
    patterns = list(fault.schema.get("patternProperties", ()))
    return Message(f"unknown {named}; {_all_allowed(known, patterns)}")


def _all_allowed(names: list[str], patterns: list[str]) -> str:
    shown = [quote(name) for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        shown.append(f"{len(names) - _MOST_NAMES} more")
    shown += [f"names that match {format_pattern(each)}" for each in patterns[:2]]
    if not shown:
        return "no properties are allowed"
    return f"allowed: {join_phrase(shown, 'and')}"


def _dependent(fault: Fault, _values: Values) -> Message:
    name, needed = fault.about
    return Message(f"{quote(needed)} is required when {quote(name)} is present, and missing")


PROPERTY_RULES: dict[str, MessageRule] = {
    "additionalProperties": _unknown,
    "dependencies": _dependent,
    "dependentRequired": _dependent,
    "required": _required,
    "unevaluatedProperties": _unknown,
}
"""The rules by keyword."""


def _unique(fault: Fault, values: Values) -> Message:
    one, two = fault.about
    found = "" if values.hidden else f" (both are {values.found(fault.instance[one])})"
    return Message(f"expected items that all differ, found item {two} equal to item {one}{found}")


def _beyond(fault: Fault, _values: Values) -> Message:
    if not fault.about:
        return Message(f"expected an empty array, found {count_noun(len(fault.instance), 'item')}")
    return Message(
        f"expected at most {count_noun(fault.about, 'item')}, found {len(fault.instance)}"
    )


def _unevaluated_items(fault: Fault, values: Values) -> Message:
    found = values.found(fault.instance[fault.about])
    return Message(f"expected no item here, found {found}")


def _contains(fault: Fault, values: Values) -> Message:
    found = f"none of {len(fault.instance)}" if fault.instance else values.found(fault.instance)
    return Message(f"expected at least one matching item{_item(fault)}, found {found}")


def _min_contains(fault: Fault, _values: Values) -> Message:
    least = count_noun(fault.validator_value, "matching item")
    found = f"{fault.about or 'none'} of {len(fault.instance)}"
    return Message(f"expected at least {least}{_item(fault)}, found {found}")


def _max_contains(fault: Fault, _values: Values) -> Message:
    most = count_noun(fault.validator_value, "matching item")
    return Message(f"expected at most {most}{_item(fault)}, found more")


def _item(fault: Fault) -> str:
    return describe_in_parentheses(fault.schema["contains"], fault)


ITEM_RULES: dict[str, MessageRule] = {
    "additionalItems": _beyond,
    "contains": _contains,
    "items": _beyond,
    "maxContains": _max_contains,
    "minContains": _min_contains,
    "unevaluatedItems": _unevaluated_items,
    "uniqueItems": _unique,
}
"""The rules by keyword."""
