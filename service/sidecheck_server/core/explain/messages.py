"""One rule for each keyword: what to say of a value that breaks it.

A message says what was expected and what was found. It holds parts of the schema as
they are, and of the payload only what `Values` lets out.
"""

from collections.abc import Mapping
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.item_messages import ITEM_RULES
from sidecheck_server.core.explain.member_messages import MEMBER_RULES
from sidecheck_server.core.explain.saying import Rule, Saying, aside, is_member
from sidecheck_server.core.explain.schemas import alternatives, describe
from sidecheck_server.core.explain.value_messages import VALUE_RULES, none_of
from sidecheck_server.core.explain.values import Values, listed, quoted, some

__all__ = ["say", "say_of_tag"]

_MOST_NAMES = 8


def say(fault: Fault, values: Values) -> Saying:
    """Return what there is to say of *fault* by itself, without looking under a choice."""
    return _RULES[fault.validator](fault, values)


def say_of_tag(name: str, allowed: list[Any], fault: Fault, values: Values) -> Saying:
    """Return what to say where the property *name* selects none of the branches of a choice."""
    if name not in fault.instance:
        return Saying(f"{quoted(name)} is required and missing; expected {some(allowed)}")
    return none_of(allowed, fault.instance[name], values)


def _false(fault: Fault, values: Values) -> Saying:
    if is_member(fault):
        return Saying("this property is not allowed here; leave it out")
    return Saying(f"no value is allowed here, found {values.found(fault.instance)}")


def _named(fault: Fault, values: Values) -> Saying:
    if not fault.about.validator:
        return Saying("no properties are allowed")
    inner = say(fault.about, values)
    named = values.property_named(fault.about.instance, "property name")
    return Saying(f"the {named} is not allowed: {inner.message}", inner.suggestion)


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
    groups: list[str] = []
    if isinstance(fault.instance, dict):
        found = values.names_in(fault.instance)
        if len(branches) <= _MOST_NAMES:
            groups = [_only_required(each) for each in branches]
    if fault.about is not None:
        first, second = fault.about
        if groups and all(groups):
            both = f"{groups[first]} and {groups[second]}"
            return Saying(f"expected only one of these, found both: {both}")
        which = [f"{each}{aside(branches[each], fault)}" for each in fault.about]
        both = listed(which, "and")
        return Saying(f"expected exactly one of the alternatives to fit, but {both} both do")
    if groups and all(groups):
        return Saying(f"{listed(groups)} is required, found {found}")
    expected = alternatives(branches, fault.scope)
    if not expected:
        return Saying(f"none of {len(branches)} alternatives fits, found {found}")
    return Saying(f"expected {expected}, found {found}")


def _only_required(schema: Any) -> str:
    """Return the names that *schema* requires if it does nothing else, or ""."""
    if not isinstance(schema, dict) or schema.keys() - _REQUIRING or not schema.get("required"):
        return ""
    return " with ".join(quoted(name) for name in schema["required"][:_MOST_NAMES])


_REQUIRING = {"required", "type", "description", "title", "$comment"}


_RULES: Mapping[str, Rule] = {
    **VALUE_RULES,
    **MEMBER_RULES,
    **ITEM_RULES,
    "": _false,
    "anyOf": _choice,
    "not": _not,
    "oneOf": _choice,
    "propertyNames": _named,
}
