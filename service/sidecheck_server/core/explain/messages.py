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
from sidecheck_server.core.explain.schemas import (
    MOST_BRANCHES,
    alternatives,
    constants,
    describe,
    parts_of,
)
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
    if fault.about is not None:
        return _both_fit(fault)
    if isinstance(fault.instance, dict):
        found = values.names_in(fault.instance)
        groups = [_only_required(each) for each in branches[:_MOST_NAMES]]
        if len(groups) == len(branches) and all(groups):
            return Saying(f"expected {listed(groups)} to be present, found {found}")
    allowed = [_constants(each, fault) for each in branches[:MOST_BRANCHES]]
    if len(allowed) == len(branches) and all(allowed):
        return none_of([value for each in allowed for value in each], fault.instance, values)
    expected = alternatives(branches, fault.scope)
    if not expected:
        return Saying(f"none of {len(branches)} alternatives fits, found {found}")
    return Saying(f"expected {expected}, found {found}")


def _both_fit(fault: Fault) -> Saying:
    fitting = {index: fault.validator_value[index] for index in fault.about}
    groups = [_only_required(each) for each in fitting.values()]
    if isinstance(fault.instance, dict) and all(groups):
        return Saying(f"expected only one of these, found both: {listed(groups, 'and')}")
    which = [f"{index}{aside(each, fault)}" for index, each in fitting.items()]
    both = listed(which, "and")
    return Saying(f"expected exactly one of the alternatives to fit, but {both} both do")


def _constants(schema: Any, fault: Fault) -> list[Any]:
    """Return the only values that *schema*, a branch of the choice, allows, if it lists them."""
    for part in parts_of(schema, fault.scope):
        known = [None] if part.schema.get("type") == "null" else constants(part)
        if known is not None:
            return known
    return []


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
