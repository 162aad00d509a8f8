"""Messages of faults: what was expected, and what was found.

Messages show parts of the schema as they are. What they show of the payload goes
through `Values`, which can hide it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.keyword_messages import (
    KEYWORD_MESSAGES,
    describe_in_parentheses,
    is_property_value,
)
from sidecheck_server.core.explain.schemas import (
    MOST_BRANCHES,
    allowed_constants,
    describe_alternatives,
    describe_schema,
    schema_parts,
)
from sidecheck_server.core.explain.types import Message, MessageRule
from sidecheck_server.core.explain.value_messages import (
    explain_not_allowed,
    hint_at_json_text,
    hint_at_null,
)
from sidecheck_server.core.explain.values import Values, describe_choices, join_phrase, quote

__all__ = ["explain_discriminator", "explain_fault"]

_MOST_NAMES = 8
_MOST_NESTED = 2
"""How many choices, nested in each other, are read for their types."""


def explain_fault(fault: Fault, values: Values) -> Message:
    """Return the message for *fault* itself, without exploring the branches of a choice."""
    return _MESSAGES[fault.keyword](fault, values)


def explain_discriminator(name: str, allowed: list[Any], fault: Fault, values: Values) -> Message:
    """Return the message for a choice whose discriminator *name* selects no branch."""
    if name not in fault.instance:
        return Message(
            f"{quote(name)} is required and missing; expected {describe_choices(allowed)}"
        )
    return explain_not_allowed(allowed, fault.instance[name], values)


def _false_schema(fault: Fault, values: Values) -> Message:
    if is_property_value(fault):
        return Message("this property is not allowed here; leave it out")
    return Message(f"no value is allowed here, found {values.describe(fault.instance)}")


def _property_names(fault: Fault, values: Values) -> Message:
    # The detail is the fault of the name under the subschema of `propertyNames`.
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
        return _two_branches_match(fault)
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
        such = f" (for example {expected})" if expected else ""
        text = f"none of {len(branches)} alternatives matches{such}; found {actual}"
    else:
        text = f"expected {expected}, found {actual}"
        text += hint_at_json_text(fault, _types_of_branches(branches, fault))
    return Message(text + hint_at_null(fault))


def _types_of_branches(branches: list[Any], fault: Fault) -> set[str]:
    """Return the types that *branches* name, themselves or in a choice in them."""
    types: set[str] = set()
    pending = [(branch, fault.scope, 0) for branch in branches]
    for schema, scope, depth in pending:
        for part in schema_parts(schema, scope):
            stated = part.schema.get("type", ())
            types.update([stated] if isinstance(stated, str) else stated)
            if depth < _MOST_NESTED and len(pending) <= MOST_BRANCHES:
                inner = (*part.get("anyOf", list), *part.get("oneOf", list))
                pending += [(branch, part.scope, depth + 1) for branch in inner]
    return types


def _two_branches_match(fault: Fault) -> Message:
    matching = {index: fault.keyword_value[index] for index in fault.detail}
    groups = [_names_required_alone(branch) for branch in matching.values()]
    if isinstance(fault.instance, dict) and all(groups):
        return Message(f"expected only one of these, found both: {join_phrase(groups, 'and')}")
    shown = [
        f"{index}{describe_in_parentheses(branch, fault)}" for index, branch in matching.items()
    ]
    return Message(
        f"expected exactly one alternative to match, but both {join_phrase(shown, 'and')} match"
    )


def _constants_of_branch(branch: Any, fault: Fault) -> list[Any]:
    """Return the only values that *branch* allows, or none if it does not list them."""
    for part in schema_parts(branch, fault.scope):
        constants = [None] if part.schema.get("type") == "null" else allowed_constants(part)
        if constants is not None:
            return constants
    return []


def _names_required_alone(branch: Any) -> str:
    """Return the names that *branch* requires if it demands nothing else, or ""."""
    if not isinstance(branch, dict) or branch.keys() - _REQUIRING or not branch.get("required"):
        return ""
    return " with ".join(quote(name) for name in branch["required"][:_MOST_NAMES])


_REQUIRING = {"required", "type", "description", "title", "$comment"}


_MESSAGES: Mapping[str, MessageRule] = {
    **KEYWORD_MESSAGES,
    "": _false_schema,
    "anyOf": _choice,
    "not": _not,
    "oneOf": _choice,
    "propertyNames": _property_names,
}
