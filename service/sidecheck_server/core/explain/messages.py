"""Messages for faults: the expected and the actual value.

Messages quote parts of the schema. They show parts of the payload only through `Values`,
which can hide them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.implications import declared_names, find_required_name
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.schemas import (
    FORMATS,
    MOST_BRANCHES,
    allowed_constants,
    describe_alternatives,
    describe_schema,
    schema_parts,
)
from sidecheck_server.core.explain.value_messages import (
    explain_const,
    explain_enum,
    explain_not_allowed,
    explain_type,
    hint_at_json_text,
    hint_at_null,
)
from sidecheck_server.core.explain.values import (
    Message,
    Values,
    count_noun,
    describe_choices,
    format_literal,
    join_phrase,
    quote,
)

__all__ = ["explain_discriminator", "explain_fault", "explain_missing"]

_MessageRule = Callable[[Fault, Values], Message]
"""Returns the message for a fault of a keyword."""

_LONGEST_PATTERN = 120
"""Longest pattern in a message, in characters."""

_MOST_COMPARED = 1000
"""Most declared names that are compared with an unknown name."""

_MOST_NAMES = 8
"""Most allowed names that a message lists."""


def _is_property_value(fault: Fault) -> bool:
    """Return whether the value of *fault* is the value of a property."""
    path = fault.absolute_path
    return bool(path) and isinstance(path[-1], str)


def _describe_in_parentheses(schema: Any, fault: Fault) -> str:
    """Return the description of *schema* in parentheses, or ""."""
    described = describe_schema(schema, fault.scope, 1)
    return f" ({described})" if described else ""


# Numbers and strings


def _bound(words: str, exclusive: str = "", exclusive_words: str = "") -> _MessageRule:
    """Return the rule of a numeric bound; *exclusive* is its flag in draft 4, if any."""

    def rule(fault: Fault, values: Values) -> Message:
        is_exclusive = exclusive and fault.schema.get(exclusive) is True
        limit = format_literal(fault.keyword_value)
        return Message(
            f"expected {exclusive_words if is_exclusive else words} {limit}, "
            f"found {values.format(fault.instance)}"
        )

    return rule


def _multiple_of(fault: Fault, values: Values) -> Message:
    divisor = format_literal(fault.keyword_value)
    return Message(f"expected a multiple of {divisor}, found {values.format(fault.instance)}")


def _pattern(fault: Fault, values: Values) -> Message:
    pattern, actual = _format_pattern(fault.keyword_value), values.format(fault.instance)
    return Message(f"expected a string that matches the pattern {pattern}, found {actual}")


def _format_pattern(pattern: str) -> str:
    if len(pattern) > _LONGEST_PATTERN:
        pattern = pattern[: _LONGEST_PATTERN - 1] + "…"
    return pattern if pattern.isprintable() else quote(pattern)


def _format(fault: Fault, values: Values) -> Message:
    name = fault.keyword_value
    expected = FORMATS.get(name) or f"a string of the format {quote(name)}"
    return Message(f"expected {expected}, found {values.format(fault.instance)}")


def _size(bound: str, noun: str) -> _MessageRule:
    def rule(fault: Fault, values: Values) -> Message:
        size = len(fault.instance)
        actual = format_literal(size) if size else values.describe(fault.instance)
        return Message(f"expected {bound} {count_noun(fault.keyword_value, noun)}, found {actual}")

    return rule


# Properties


def explain_missing(name: str) -> str:
    """Return the beginning of the message for the missing property *name*."""
    return f"{quote(name)} is required and missing"


def _required(fault: Fault, values: Values) -> Message:
    name = fault.detail
    text = explain_missing(name)
    expected = _describe_property(fault, name)
    if expected:
        text += f"; expected {expected}"
    nearest = ""
    if expected and not values.hidden:
        declared = set(declared_names(fault, fault.keyword))
        unknown = (
            instance_name for instance_name in fault.instance if instance_name not in declared
        )
        nearest = find_nearest(name, unknown)
    if nearest:
        text += f"; {quote(nearest)} may be a misspelling of {quote(name)}"
    return Message(text, nearest)


def _describe_property(fault: Fault, name: str) -> str:
    for part in schema_parts(fault.schema, fault.scope):
        subschema = part.get("properties", dict).get(name)
        if isinstance(subschema, dict):
            return describe_schema(subschema, part.scope)
    return ""


def _unknown_property(fault: Fault, values: Values) -> Message:
    name = fault.detail
    shown = values.property_named(name)
    declared = list(dict.fromkeys(islice(declared_names(fault, fault.keyword), _MOST_COMPARED)))
    if name in declared:
        return Message(f"{shown} is not allowed together with the other properties")
    absent = (candidate for candidate in declared if candidate not in fault.instance)
    nearest = find_nearest(name, absent)
    if nearest:
        required = ", which is required" if nearest == find_required_name(fault) else ""
        return Message(f"unknown {shown}; did you mean {quote(nearest)}{required}?", nearest)
    patterns = list(fault.schema.get("patternProperties", ()))
    return Message(f"unknown {shown}; {_describe_allowed_names(declared, patterns)}")


def _describe_allowed_names(names: list[str], patterns: list[str]) -> str:
    shown = [quote(name) for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        shown.append(f"{len(names) - _MOST_NAMES} more")
    shown += [f"names that match {_format_pattern(pattern)}" for pattern in patterns[:2]]
    if not shown:
        return "no properties are allowed"
    return f"allowed: {join_phrase(shown, 'and')}"


def _dependent(fault: Fault, _values: Values) -> Message:
    name, dependent = fault.detail
    return Message(f"{quote(dependent)} is required when {quote(name)} is present, and missing")


# Items


def _unique_items(fault: Fault, values: Values) -> Message:
    first, second = fault.detail
    value = "" if values.hidden else f" (both are {values.describe(fault.instance[first])})"
    return Message(f"expected unique items, found item {second} equal to item {first}{value}")


def _extra_items(fault: Fault, _values: Values) -> Message:
    count = len(fault.instance)
    if not fault.detail:
        return Message(f"expected an empty array, found {count_noun(count, 'item')}")
    return Message(f"expected at most {count_noun(fault.detail, 'item')}, found {count}")


def _unevaluated_item(fault: Fault, values: Values) -> Message:
    return Message(f"expected no item here, found {values.describe(fault.instance[fault.detail])}")


def _contains(fault: Fault, values: Values) -> Message:
    count = len(fault.instance)
    actual = f"none of {count}" if count else values.describe(fault.instance)
    return Message(
        f"expected at least one matching item{_describe_contained(fault)}, found {actual}"
    )


def _min_contains(fault: Fault, _values: Values) -> Message:
    least = count_noun(fault.keyword_value, "matching item")
    actual = f"{fault.detail or 'none'} of {len(fault.instance)}"
    return Message(f"expected at least {least}{_describe_contained(fault)}, found {actual}")


def _max_contains(fault: Fault, _values: Values) -> Message:
    most = count_noun(fault.keyword_value, "matching item")
    return Message(f"expected at most {most}{_describe_contained(fault)}, found more")


def _describe_contained(fault: Fault) -> str:
    return _describe_in_parentheses(fault.schema["contains"], fault)


_MOST_NESTED = 2
"""Most nested choices that are searched for types."""


def explain_fault(fault: Fault, values: Values) -> Message:
    """Return the message for *fault*, without exploring branches."""
    return _MESSAGES[fault.keyword](fault, values)


def explain_discriminator(name: str, allowed: list[Any], fault: Fault, values: Values) -> Message:
    """Return the message for a choice whose discriminator *name* selects no branch."""
    if name not in fault.instance:
        return Message(
            f"{quote(name)} is required and missing; expected {describe_choices(allowed)}"
        )
    return explain_not_allowed(allowed, fault.instance[name], values)


def _false_schema(fault: Fault, values: Values) -> Message:
    if _is_property_value(fault):
        return Message("this property is not allowed here; leave it out")
    return Message(f"no value is allowed here, found {values.describe(fault.instance)}")


def _property_names(fault: Fault, values: Values) -> Message:
    # The detail is the fault of the name against the subschema of `propertyNames`.
    if not fault.detail.keyword:
        return Message("no properties are allowed")
    inner = explain_fault(fault.detail, values)
    shown = values.property_named(fault.detail.instance, "property name")
    return Message(f"the {shown} is not allowed: {inner.text}", inner.suggestion)


def _not(fault: Fault, values: Values) -> Message:
    if fault.keyword_value is True or fault.keyword_value == {}:
        return _false_schema(fault, values)
    excluded = describe_schema(fault.keyword_value, fault.scope)
    actual = values.describe(fault.instance)
    if not excluded:
        return Message(f"{actual} is not allowed here: it matches a schema under `not`")
    return Message(f"expected anything but {excluded}, found {actual}")


def _choice(fault: Fault, values: Values) -> Message:
    """Return the message for ``anyOf`` or ``oneOf``."""
    branches, actual = fault.keyword_value, values.describe(fault.instance)
    if fault.detail is not None:
        return _explain_two_matches(fault)
    if isinstance(fault.instance, dict):
        actual = values.describe_names(fault.instance)
        groups = [_names_required_alone(branch) for branch in branches[:_MOST_NAMES]]
        if len(groups) == len(branches) and all(groups):
            return Message(f"expected {join_phrase(groups)} to be present, found {actual}")
    allowed = [_constants_of_branch(branch, fault) for branch in branches[:MOST_BRANCHES]]
    if len(allowed) == len(branches) and all(allowed):
        choices = [value for constants in allowed for value in constants]
        message = explain_not_allowed(choices, fault.instance, values)
        return replace(message, text=message.text + hint_at_null(fault))
    expected = describe_alternatives(branches, fault.scope)
    if not expected or len(branches) > MOST_BRANCHES:
        example = f" (for example {expected})" if expected else ""
        text = f"none of {len(branches)} alternatives matches{example}; found {actual}"
    else:
        text = f"expected {expected}, found {actual}"
        text += hint_at_json_text(fault, _types_of_branches(branches, fault))
    return Message(text + hint_at_null(fault))


def _types_of_branches(branches: list[Any], fault: Fault) -> set[str]:
    """Return the types that *branches*, or choices nested in them, name."""
    types: set[str] = set()
    pending = [(branch, fault.scope, 0) for branch in branches]
    for schema, scope, depth in pending:
        for part in schema_parts(schema, scope):
            names = part.schema.get("type", ())
            types.update([names] if isinstance(names, str) else names)
            if depth < _MOST_NESTED and len(pending) <= MOST_BRANCHES:
                inner = (*part.get("anyOf", list), *part.get("oneOf", list))
                pending += [(branch, part.scope, depth + 1) for branch in inner]
    return types


def _explain_two_matches(fault: Fault) -> Message:
    matching = {index: fault.keyword_value[index] for index in fault.detail}
    groups = [_names_required_alone(branch) for branch in matching.values()]
    if isinstance(fault.instance, dict) and all(groups):
        return Message(f"expected only one of these, found both: {join_phrase(groups, 'and')}")
    shown = [
        f"{index}{_describe_in_parentheses(branch, fault)}" for index, branch in matching.items()
    ]
    return Message(
        f"expected exactly one alternative to match, but both {join_phrase(shown, 'and')} match"
    )


def _constants_of_branch(branch: Any, fault: Fault) -> list[Any]:
    """Return the values to which *branch* is limited, or [] if it does not list them."""
    for part in schema_parts(branch, fault.scope):
        constants = [None] if part.schema.get("type") == "null" else allowed_constants(part)
        if constants is not None:
            return constants
    return []


def _names_required_alone(branch: Any) -> str:
    """Return the names that *branch* requires if it has no other constraint, or ""."""
    if not isinstance(branch, dict) or branch.keys() - _REQUIRING or not branch.get("required"):
        return ""
    return " with ".join(quote(name) for name in branch["required"][:_MOST_NAMES])


_REQUIRING = {"required", "type", "description", "title", "$comment"}


_MESSAGES: Mapping[str, _MessageRule] = {
    "": _false_schema,
    "additionalItems": _extra_items,
    "additionalProperties": _unknown_property,
    "anyOf": _choice,
    "const": explain_const,
    "contains": _contains,
    "dependencies": _dependent,
    "dependentRequired": _dependent,
    "enum": explain_enum,
    "exclusiveMaximum": _bound("less than"),
    "exclusiveMinimum": _bound("more than"),
    "format": _format,
    "items": _extra_items,
    "maxContains": _max_contains,
    "maxItems": _size("at most", "item"),
    "maxLength": _size("at most", "character"),
    "maxProperties": _size("at most", "property"),
    "maximum": _bound("at most", "exclusiveMaximum", "less than"),
    "minContains": _min_contains,
    "minItems": _size("at least", "item"),
    "minLength": _size("at least", "character"),
    "minProperties": _size("at least", "property"),
    "minimum": _bound("at least", "exclusiveMinimum", "more than"),
    "multipleOf": _multiple_of,
    "not": _not,
    "oneOf": _choice,
    "pattern": _pattern,
    "propertyNames": _property_names,
    "required": _required,
    "type": explain_type,
    "unevaluatedItems": _unevaluated_item,
    "unevaluatedProperties": _unknown_property,
    "uniqueItems": _unique_items,
}
"""Message rule of each keyword."""
