"""One rule for each keyword: what to say of a value that breaks it.

A message says what was expected and what was found. It holds parts of the schema as
they are, and of the payload only what `Values` lets out.
"""

from collections.abc import Mapping
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.keyword_messages import (
    ITEM_RULES,
    PROPERTY_RULES,
    VALUE_RULES,
    Message,
    MessageRule,
    describe_in_parentheses,
    explain_not_allowed,
    is_property_value,
)
from sidecheck_server.core.explain.schemas import (
    MOST_BRANCHES,
    allowed_constants,
    describe_alternatives,
    describe_schema,
    schema_parts,
)
from sidecheck_server.core.explain.values import Values, describe_choices, join_phrase, quote

__all__ = ["explain_discriminator", "explain_fault"]

_MOST_NAMES = 8


def explain_fault(fault: Fault, values: Values) -> Message:
    """Return what there is to say of *fault* by itself, without looking under a choice."""
    return _RULES[fault.validator](fault, values)


def explain_discriminator(name: str, allowed: list[Any], fault: Fault, values: Values) -> Message:
    """Return what to say where the property *name* selects none of the branches of a choice."""
    if name not in fault.instance:
        return Message(
            f"{quote(name)} is required and missing; expected {describe_choices(allowed)}"
        )
    return explain_not_allowed(allowed, fault.instance[name], values)


def _false(fault: Fault, values: Values) -> Message:
    if is_property_value(fault):
        return Message("this property is not allowed here; leave it out")
    return Message(f"no value is allowed here, found {values.found(fault.instance)}")


def _named(fault: Fault, values: Values) -> Message:
    if not fault.about.validator:
        return Message("no properties are allowed")
    inner = explain_fault(fault.about, values)
    named = values.property_named(fault.about.instance, "property name")
    return Message(f"the {named} is not allowed: {inner.message}", inner.suggestion)


def _not(fault: Fault, values: Values) -> Message:
    if fault.validator_value is True or fault.validator_value == {}:
        return _false(fault, values)
    unwanted = describe_schema(fault.validator_value, fault.scope)
    found = values.found(fault.instance)
    if not unwanted:
        return Message(f"{found} of this kind is ruled out here")
    return Message(f"expected anything but {unwanted}, found {found}")


def _choice(fault: Fault, values: Values) -> Message:
    branches, found = fault.validator_value, values.found(fault.instance)
    if fault.about is not None:
        return _both_fit(fault)
    if isinstance(fault.instance, dict):
        found = values.names_in(fault.instance)
        groups = [_only_required(each) for each in branches[:_MOST_NAMES]]
        if len(groups) == len(branches) and all(groups):
            return Message(f"expected {join_phrase(groups)} to be present, found {found}")
    allowed = [_constants(each, fault) for each in branches[:MOST_BRANCHES]]
    if len(allowed) == len(branches) and all(allowed):
        return explain_not_allowed(
            [value for each in allowed for value in each], fault.instance, values
        )
    expected = describe_alternatives(branches, fault.scope)
    if not expected:
        return Message(f"none of {len(branches)} alternatives fits, found {found}")
    return Message(f"expected {expected}, found {found}")


def _both_fit(fault: Fault) -> Message:
    fitting = {index: fault.validator_value[index] for index in fault.about}
    groups = [_only_required(each) for each in fitting.values()]
    if isinstance(fault.instance, dict) and all(groups):
        return Message(f"expected only one of these, found both: {join_phrase(groups, 'and')}")
    which = [f"{index}{describe_in_parentheses(each, fault)}" for index, each in fitting.items()]
    both = join_phrase(which, "and")
    return Message(f"expected exactly one of the alternatives to fit, but {both} both do")


def _constants(schema: Any, fault: Fault) -> list[Any]:
    """Return the only values that *schema*, a branch of the choice, allows, if it lists them."""
    for part in schema_parts(schema, fault.scope):
        known = [None] if part.schema.get("type") == "null" else allowed_constants(part)
        if known is not None:
            return known
    return []


def _only_required(schema: Any) -> str:
    """Return the names that *schema* requires if it does nothing else, or ""."""
    if not isinstance(schema, dict) or schema.keys() - _REQUIRING or not schema.get("required"):
        return ""
    return " with ".join(quote(name) for name in schema["required"][:_MOST_NAMES])


_REQUIRING = {"required", "type", "description", "title", "$comment"}


_RULES: Mapping[str, MessageRule] = {
    **VALUE_RULES,
    **PROPERTY_RULES,
    **ITEM_RULES,
    "": _false,
    "anyOf": _choice,
    "not": _not,
    "oneOf": _choice,
    "propertyNames": _named,
}
