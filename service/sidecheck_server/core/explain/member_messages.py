"""What to say of members that are missing or unknown."""

from collections.abc import Iterator
from itertools import islice

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.nearest import nearest
from sidecheck_server.core.explain.saying import Rule, Saying, pattern_text
from sidecheck_server.core.explain.schemas import MOST_BRANCHES, describe, parts_of
from sidecheck_server.core.explain.values import Values, listed, quoted

__all__ = ["MEMBER_RULES"]

_MOST_NAMES = 8
_MOST_COMPARED = 1000


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
    if fault.validator == "additionalProperties":
        # It sees no further (2020-12 core, section 10.3.2.3).
        yield from fault.schema.get("properties", ())
        return
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
    shown += [f"names that match {pattern_text(each)}" for each in patterns[:2]]
    if not shown:
        return "no properties are allowed"
    return f"allowed: {listed(shown, 'and')}"


def _dependent(fault: Fault, _values: Values) -> Saying:
    name, needed = fault.about
    return Saying(f"{quoted(needed)} is required when {quoted(name)} is present, and missing")


MEMBER_RULES: dict[str, Rule] = {
    "additionalProperties": _unknown,
    "dependencies": _dependent,
    "dependentRequired": _dependent,
    "required": _required,
    "unevaluatedProperties": _unknown,
}
"""The rules by keyword."""
