"""Comparison of the branches of a choice that a payload may have been meant to match.

Where neither types nor discriminators nor names select a branch, the faults under each are
counted. The branch with the fewest is reported; if several have as few, one message tells
what each of them demands.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.implied import is_implied
from sidecheck_server.core.explain.messages import explain_fault
from sidecheck_server.core.explain.schemas import allowed_constants, describe_schema, schema_parts
from sidecheck_server.core.explain.types import Message
from sidecheck_server.core.explain.value_messages import explain_not_allowed
from sidecheck_server.core.explain.values import Values, count_noun, join_phrase, quote
from sidecheck_server.core.types import as_pointer

__all__ = ["Alternative", "compare_branches", "explain_alternatives"]

_MOST_BRANCHES = 20
"""The most branches that are compared."""
_MOST_FAULTS = 5
"""The most faults that are counted in a branch."""
_MOST_SHOWN = 3
"""The most branches whose faults a message tells."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A branch of a choice, with the first faults under it."""

    index: int
    faults: list[Fault]


def compare_branches(fault: Fault, indexes: Sequence[int]) -> list[Alternative]:
    """Return those of the branches at *indexes* that have the fewest faults, in order.

    There are none for a scalar, and for an object that has nothing of what they require: what
    each demands says all.

    Raises:
        Exhausted: it takes more than half of the steps that are left; the others are kept, so
            that the choice itself can still be reported.
    """
    explore, budget = fault.explore_branch, fault.scope.budget
    if explore is None or not isinstance(fault.instance, dict | list):
        return []
    reserved = budget[0] // 2
    budget[0] -= reserved
    try:
        alternatives = [
            Alternative(index, _first_faults(fault, explore(index)))
            for index in indexes[:_MOST_BRANCHES]
        ]
    finally:
        budget[0] += reserved
    if all(_lacks_everything(inner, fault) for item in alternatives for inner in item.faults):
        return []
    fewest = min((len(alternative.faults) for alternative in alternatives), default=0)
    return [alternative for alternative in alternatives if len(alternative.faults) == fewest]


def _first_faults(choice: Fault, faults: Iterable[Fault]) -> list[Fault]:
    """Return the first of *faults* under *choice* that are reported."""
    first: list[Fault] = []
    for inner in faults:
        inner.parent = choice
        if not is_implied(inner):
            first.append(inner)
        if len(first) == _MOST_FAULTS:
            break
    return first


def _lacks_everything(inner: Fault, choice: Fault) -> bool:
    """Return whether *inner* is that the value of *choice* has no property that it requires."""
    if inner.keyword != "required" or inner.instance is not choice.instance:
        return False
    return not any(name in inner.instance for name in inner.keyword_value)


def explain_alternatives(
    fault: Fault, alternatives: Sequence[Alternative], values: Values
) -> tuple[Message, Sequence[str | int]]:
    """Return the message for a choice whose *alternatives* have as many faults each.

    The path is that of the value that all of them reject first, or that of the choice.
    """
    first = [alternative.faults[0] for alternative in alternatives]
    path = first[0].absolute_path
    if all(inner.absolute_path == path for inner in first):
        message = _explain_names(first, values) or _explain_values(first, values)
        if message is not None:
            return message, path
    return _explain_each(fault, alternatives, values), fault.absolute_path


def _explain_names(faults: Sequence[Fault], values: Values) -> Message | None:
    """Return the message for properties of which one is missing, or None."""
    if any(fault.keyword != "required" for fault in faults):
        return None
    names = list(dict.fromkeys(fault.detail for fault in faults))
    if len(names) == 1:
        return explain_fault(faults[0], values)
    actual = values.describe_names(faults[0].instance)
    return Message(f"expected {join_phrase([*map(quote, names)])} to be present, found {actual}")


_VALUES = frozenset({"type", "const", "enum", "format", "pattern", "anyOf", "oneOf"})
"""Keywords whose fault is that the value is another one than the schema describes."""


def _explain_values(faults: Sequence[Fault], values: Values) -> Message | None:
    """Return the message for a value that none of several schemas accepts, or None."""
    if any(fault.keyword not in _VALUES for fault in faults):
        return None
    instance = faults[0].instance
    constants = [_constants_at(fault) for fault in faults]
    if all(constants):
        return explain_not_allowed(
            [value for listed in constants for value in listed], instance, values
        )
    phrases = list(dict.fromkeys(describe_schema(fault.schema, fault.scope) for fault in faults))
    if len(phrases) == 1:
        return explain_fault(faults[0], values)
    if not all(phrases) or isinstance(instance, dict):
        return None
    return Message(f"expected {join_phrase(phrases)}, found {values.describe(instance)}")


def _constants_at(fault: Fault) -> list[object]:
    for part in schema_parts(fault.schema, fault.scope):
        constants = allowed_constants(part)
        if constants is not None:
            return constants
    return []


def _explain_each(fault: Fault, alternatives: Sequence[Alternative], values: Values) -> Message:
    """Return the message that tells why each of the first *alternatives* does not match."""
    reasons: dict[str, int] = {}
    for alternative in alternatives:
        reasons.setdefault(_explain_first(fault, alternative, values), alternative.index)
    shown = [f"alternative {index}: {reason}" for reason, index in reasons.items()][:_MOST_SHOWN]
    if len(reasons) > _MOST_SHOWN:
        shown.append(f"and {count_noun(len(reasons) - _MOST_SHOWN, 'other alternative')}")
    total = count_noun(len(fault.keyword_value), "alternative")
    return Message(f"none of {total} matches; {'; '.join(shown)}")


def _explain_first(fault: Fault, alternative: Alternative, values: Values) -> str:
    inner = alternative.faults[0]
    text = explain_fault(inner, values).text
    path = inner.absolute_path[len(fault.absolute_path) :]
    return text if values.hidden or not path else f"{text} (at {as_pointer(path)})"
