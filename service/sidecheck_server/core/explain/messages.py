"""One rule for each keyword: what to say of a value that breaks it.

A message says what was expected and what was found. It holds parts of the schema as
they are, and of the payload only what `Values` lets out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.nearest import nearest
from sidecheck_server.core.explain.schemas import (
    FORMATS,
    MOST_BRANCHES,
    alternatives,
    describe,
    parts_of,
    types_in_words,
)
from sidecheck_server.core.explain.values import Values, counted, listed, literal, quoted, some

__all__ = ["Saying", "say", "say_of_tag"]

_MOST_NAMES = 8
_MOST_COMPARED = 1000
_LONGEST_PATTERN = 120


@dataclass(frozen=True, slots=True)
class Saying:
    """What there is to say of a fault."""

    message: str
    suggestion: str = ""


Rule = Callable[[Fault, Values], Saying]


def say(fault: Fault, values: Values) -> Saying:
    """Return what there is to say of *fault* by itself, without looking under a choice."""
    return _RULES[fault.validator](fault, values)


def _false(fault: Fault, values: Values) -> Saying:
    if _is_member(fault):
        return Saying("this property is not allowed here; leave it out")
    return Saying(f"no value is allowed here, found {values.found(fault.instance)}")


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
    saying = _none_of(fault.validator_value, fault.instance, values)
    return replace(saying, message=saying.message + _instead(fault))


def _instead(fault: Fault) -> str:
    """Return what to do about a member that is null, which many take for absent."""
    null = fault.instance is None and _is_member(fault)
    return "; leave it out if it is optional" if null else ""


def _is_member(fault: Fault) -> bool:
    """Return whether the value stands in an object."""
    path = fault.absolute_path
    return bool(path) and isinstance(path[-1], str)


def _none_of(allowed: list[Any], instance: Any, values: Values) -> Saying:
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


def _required(fault: Fault, values: Values) -> Saying:
    name = fault.about
    message = f"{quoted(name)} is required and missing"
    wanted = _property(fault, name)
    if wanted:
        message += f"; expected {wanted}"
    near = nearest(name, _undeclared(fault)) if wanted and not values.hidden else ""
    if near:
        message += f"; perhaps {quoted(near)} was meant to be {quoted(name)}"
    return Saying(message, near)


def _property(fault: Fault, name: str) -> str:
    for part in parts_of(fault.schema, fault.scope):
        member = part.get("properties", dict).get(name)
        if isinstance(member, dict):
            return describe(member, part.scope)
    return ""


def _undeclared(fault: Fault) -> Iterator[str]:
    declared = set(_declared(fault))
    return (name for name in fault.instance if name not in declared)


def _declared(fault: Fault) -> Iterator[str]:
    for part in parts_of(fault.schema, fault.scope):
        yield from part.get("properties", dict)
        # A choice may declare more.
        branches = (*part.get("anyOf", list), *part.get("oneOf", list))
        for branch in branches[:MOST_BRANCHES]:
            for inner in parts_of(branch, part.scope):
                yield from inner.get("properties", dict)


def _unknown(fault: Fault, values: Values) -> Saying:
    named = values.property_named(fault.about)
    known = list(dict.fromkeys(islice(_declared(fault), _MOST_COMPARED)))
    if fault.about in known:
        return Saying(f"{named} is not allowed in combination with the others")
    near = nearest(fault.about, (name for name in known if name not in fault.instance))
    if near:
        return Saying(f"unknown {named}; did you mean {quoted(near)}?", near)
    patterns = list(fault.schema.get("patternProperties", ()))
    return Saying(f"unknown {named}; {_all_allowed(known, patterns)}")


def _all_allowed(names: list[str], patterns: list[str]) -> str:
    shown = [quoted(name) for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        shown.append(f"{len(names) - _MOST_NAMES} more")
    shown += [f"names that match {_pattern_text(each)}" for each in patterns[:2]]
    if not shown:
        return "no properties are allowed"
    return f"allowed: {listed(shown, 'and')}"


def _named(fault: Fault, values: Values) -> Saying:
    if not fault.about.validator:
        return Saying("no properties are allowed")
    inner = say(fault.about, values)
    named = values.property_named(fault.about.instance, "property name")
    return Saying(f"the {named} is not allowed: {inner.message}", inner.suggestion)


def _dependent(fault: Fault, _values: Values) -> Saying:
    name, needed = fault.about
    return Saying(f"{quoted(needed)} is required when {quoted(name)} is present, and missing")


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
    pattern, found = _pattern_text(fault.validator_value), values.plain(fault.instance)
    return Saying(f"expected a string that matches the pattern {pattern}, found {found}")


def _pattern_text(pattern: str) -> str:
    if len(pattern) > _LONGEST_PATTERN:
        pattern = pattern[: _LONGEST_PATTERN - 1] + "…"
    return pattern if pattern.isprintable() else quoted(pattern)


def _format(fault: Fault, values: Values) -> Saying:
    name = fault.validator_value
    expected = FORMATS.get(name) or f"a string of the format {quoted(name)}"
    return Saying(f"expected {expected}, found {values.plain(fault.instance)}")


def _unique(fault: Fault, values: Values) -> Saying:
    one, two = fault.about
    found = "" if values.hidden else f" (both are {values.found(fault.instance[one])})"
    return Saying(f"expected items that all differ, found item {two} equal to item {one}{found}")


def _beyond(fault: Fault, _values: Values) -> Saying:
    if not fault.about:
        return Saying(f"expected an empty array, found {counted(len(fault.instance), 'item')}")
    return Saying(f"expected at most {counted(fault.about, 'item')}, found {len(fault.instance)}")


def _unevaluated_items(fault: Fault, values: Values) -> Saying:
    found = values.found(fault.instance[fault.about])
    return Saying(f"expected no item here, found {found}")


def _contains(fault: Fault, values: Values) -> Saying:
    found = f"none of {len(fault.instance)}" if fault.instance else values.found(fault.instance)
    return Saying(f"expected at least one matching item{_item(fault)}, found {found}")


def _min_contains(fault: Fault, _values: Values) -> Saying:
    least = counted(fault.validator_value, "matching item")
    found = f"{fault.about or 'none'} of {len(fault.instance)}"
    return Saying(f"expected at least {least}{_item(fault)}, found {found}")


def _max_contains(fault: Fault, _values: Values) -> Saying:
    most = counted(fault.validator_value, "matching item")
    return Saying(f"expected at most {most}{_item(fault)}, found more")


def _item(fault: Fault) -> str:
    return _aside(fault.schema["contains"], fault)


def _not(fault: Fault, values: Values) -> Saying:
    if fault.validator_value is True or fault.validator_value == {}:
        return _false(fault, values)
    unwanted = describe(fault.validator_value, fault.scope)
    found = values.found(fault.instance)
    if not unwanted:
        return Saying(f"{found} of this kind is ruled out here")
    return Saying(f"expected anything but {unwanted}, found {found}")


def _choice(fault: Fault, values: Values) -> Saying:
    branches, found = fault.validator_value, values.found(fault.instance)
    if isinstance(fault.instance, dict):
        found = values.names_in(fault.instance)
    groups = [_only_required(each) for each in branches]
    if fault.about is not None:
        first, second = fault.about
        if all(groups):
            both = f"{groups[first]} and {groups[second]}"
            return Saying(f"expected only one of these, found both: {both}")
        which = [f"{each}{_aside(branches[each], fault)}" for each in fault.about]
        both = listed(which, "and")
        return Saying(f"expected exactly one of the alternatives to fit, but {both} both do")
    if all(groups):
        return Saying(f"{listed(groups)} is required, found {found}")
    expected = alternatives(branches, fault.scope)
    if not expected:
        return Saying(f"none of {len(branches)} alternatives fits, found {found}")
    return Saying(f"expected {expected}, found {found}")


def say_of_tag(name: str, allowed: list[Any], fault: Fault, values: Values) -> Saying:
    """Return what to say where the property *name* selects none of the branches of a choice."""
    if name not in fault.instance:
        return Saying(f"{quoted(name)} is required and missing; expected {some(allowed)}")
    return _none_of(allowed, fault.instance[name], values)


def _aside(schema: Any, fault: Fault) -> str:
    described = describe(schema, fault.scope, 1)
    return f" ({described})" if described else ""


def _only_required(schema: Any) -> str:
    """Return the names that *schema* requires if it does nothing else, or ""."""
    if not isinstance(schema, dict) or schema.keys() - _REQUIRING or not schema.get("required"):
        return ""
    return " with ".join(quoted(name) for name in schema["required"][:_MOST_NAMES])


_REQUIRING = {"required", "type", "description", "title", "$comment"}


_RULES: Mapping[str, Rule] = {
    "": _false,
    "additionalItems": _beyond,
    "additionalProperties": _unknown,
    "anyOf": _choice,
    "const": _const,
    "contains": _contains,
    "dependencies": _dependent,
    "dependentRequired": _dependent,
    "enum": _enum,
    "exclusiveMaximum": _bound("less than"),
    "exclusiveMinimum": _bound("more than"),
    "format": _format,
    "items": _beyond,
    "maxContains": _max_contains,
    "maxItems": _too_many("item"),
    "maxLength": _too_many("character"),
    "maxProperties": _too_many("property"),
    "maximum": _bound("at most", "exclusiveMaximum", "less than"),
    "minContains": _min_contains,
    "minItems": _too_few("item"),
    "minLength": _too_few("character"),
    "minProperties": _too_few("property"),
    "minimum": _bound("at least", "exclusiveMinimum", "more than"),
    "multipleOf": _multiple,
    "not": _not,
    "oneOf": _choice,
    "pattern": _pattern,
    "propertyNames": _named,
    "required": _required,
    "type": _type,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unknown,
    "uniqueItems": _unique,
}
