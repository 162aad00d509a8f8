"""What to say of a value that is not as a keyword wants it."""

from dataclasses import replace
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.nearest import nearest
from sidecheck_server.core.explain.saying import Rule, Saying, is_member, pattern_text
from sidecheck_server.core.explain.schemas import FORMATS, describe, types_in_words
from sidecheck_server.core.explain.values import Values, counted, literal, quoted, some

__all__ = ["VALUE_RULES", "none_of"]

_MOST_COMPARED = 1000


def _type(fault: Fault, values: Values) -> Saying:
    expected = types_in_words(fault.validator_value)
    if fault.validator_value == "array":
        # Which items, since one of them is what is often found in its place.
        expected = describe(fault.schema, fault.scope) or expected
    found = values.found(fault.instance)
    if isinstance(fault.instance, str) and fault.instance[:1] in "[{" and fault.instance:
        wanted = fault.validator_value
        if {"array", "object"} & set([wanted] if isinstance(wanted, str) else wanted):
            found += "; pass the JSON itself, not a string that contains it"
    return Saying(f"expected {expected}, found {found}{_instead(fault)}")


def _enum(fault: Fault, values: Values) -> Saying:
    saying = none_of(fault.validator_value, fault.instance, values)
    return replace(saying, message=saying.message + _instead(fault))


def _instead(fault: Fault) -> str:
    """Return what to do about a member that is null, which many take for absent."""
    null = fault.instance is None and is_member(fault)
    return "; leave it out if it is optional" if null else ""


def none_of(allowed: list[Any], instance: Any, values: Values) -> Saying:
    """Return what to say of *instance*, which is none of the values *allowed*."""
    near = None if values.hidden else _near(instance, allowed)
    message = f"expected {some(allowed, near)}, found {values.plain(instance)}"
    if near is None:
        return Saying(message)
    suggestion = near if isinstance(near, str) else literal(near)
    return Saying(f"{message}; did you mean {literal(near)}?", suggestion)


def _near(value: Any, allowed: list[Any]) -> Any:
    """Return the one of *allowed* that *value* may stand for, perhaps of another type."""
    if isinstance(value, dict | list | None):
        return None
    text = value if isinstance(value, str) else literal(value)
    for each in allowed[:_MOST_COMPARED]:
        if isinstance(each, str) != isinstance(value, str) and not isinstance(each, dict | list):
            other = each if isinstance(each, str) else literal(each)
            if other.casefold() == text.casefold():
                return each
    if not isinstance(value, str):
        return None
    strings = (each for each in allowed[:_MOST_COMPARED] if isinstance(each, str))
    return nearest(value, strings) or None


def _const(fault: Fault, values: Values) -> Saying:
    expected, found = literal(fault.validator_value), values.plain(fault.instance)
    if expected == found:
        return Saying(f"expected a certain value, found another: {found}")
    return Saying(f"expected {expected}, found {found}")


def _too_many(noun: str) -> Rule:
    return _size("at most", noun)


def _too_few(noun: str) -> Rule:
    return _size("at least", noun)


def _size(bound: str, noun: str) -> Rule:
    def rule(fault: Fault, values: Values) -> Saying:
        size = len(fault.instance)
        found = literal(size) if size else values.found(fault.instance)
        return Saying(f"expected {bound} {counted(fault.validator_value, noun)}, found {found}")

    return rule


def _bound(words: str, exclusive: str = "", strict: str = "") -> Rule:
    def rule(fault: Fault, values: Values) -> Saying:
        # In draft 4 a boolean beside the bound excludes it.
        used = strict if exclusive and fault.schema.get(exclusive) is True else words
        bound = literal(fault.validator_value)
        return Saying(f"expected {used} {bound}, found {values.plain(fault.instance)}")

    return rule


def _multiple(fault: Fault, values: Values) -> Saying:
    divisor = literal(fault.validator_value)
    return Saying(f"expected a multiple of {divisor}, found {values.plain(fault.instance)}")


def _pattern(fault: Fault, values: Values) -> Saying:
    pattern, found = pattern_text(fault.validator_value), values.plain(fault.instance)
    return Saying(f"expected a string that matches the pattern {pattern}, found {found}")


def _format(fault: Fault, values: Values) -> Saying:
    name = fault.validator_value
    expected = FORMATS.get(name) or f"a string of the format {quoted(name)}"
    return Saying(f"expected {expected}, found {values.plain(fault.instance)}")


VALUE_RULES: dict[str, Rule] = {
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
