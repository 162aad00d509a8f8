"""Violations from faults: one for each thing that is wrong with a payload."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.alternatives import compare_branches, explain_alternatives
from sidecheck_server.core.explain.choices import Discriminator, find_plausible
from sidecheck_server.core.explain.implied import is_implied
from sidecheck_server.core.explain.keyword_messages import Message
from sidecheck_server.core.explain.messages import explain_discriminator, explain_fault
from sidecheck_server.core.explain.nearest import MOST_CANDIDATES
from sidecheck_server.core.explain.schemas import MOST_BRANCHES
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.limits import spend
from sidecheck_server.core.types import Violation, as_pointer

__all__ = ["explain"]

_DEEPEST = 24
"""The most choices, nested in each other, whose branches are explored."""

# In steps: a message, comparing a name with another, reading a branch.
_MESSAGE = 1000
_NAME = 150
_BRANCH = 400

_LONGEST = 1000
"""The longest message, in characters."""


def explain(faults: Iterable[Fault], *, hide_values: bool) -> Iterator[Violation]:
    """Yield the violations that *faults* amount to, lazily and each once.

    With *hide_values*, messages and suggestions hold nothing of the payload.

    Raises:
        Exhausted: the budget of *faults* has too few steps.
    """
    values = Values(hidden=hide_values)
    seen: set[tuple[str, str]] = set()
    for fault in faults:
        for violation in _explain(fault, values, 0):
            # Several paths of evaluation may lead to the same demand.
            key = (violation.instance_location, violation.message)
            if key not in seen:
                seen.add(key)
                yield violation


def _explain(fault: Fault, values: Values, depth: int) -> Iterator[Violation]:
    spend(fault.scope.budget, _steps(fault))
    if is_implied(fault):
        return
    if fault.explore_branch is None:
        yield _violation(fault, explain_fault(fault, values))
        return
    plausible = find_plausible(fault)
    if isinstance(plausible, Discriminator):
        path = (plausible.name,) if plausible.name in fault.instance else ()
        message = explain_discriminator(plausible.name, plausible.values, fault, values)
        yield _violation(fault, message, (*fault.absolute_path, *path))
    elif plausible and depth >= _DEEPEST:
        actual = values.describe(fault.instance)
        text = f"none of the alternatives matches, for a deeply nested reason; found {actual}"
        yield _violation(fault, Message(text))
    elif len(plausible) == 1:
        yield from _explain_branch(fault, plausible[0], values, depth)
    else:
        yield from _explain_nearest(fault, plausible, values, depth)


def _explain_branch(fault: Fault, index: int, values: Values, depth: int) -> Iterator[Violation]:
    """Yield the violations of the branch at *index* of the choice *fault*."""
    assert fault.explore_branch is not None
    for inner in fault.explore_branch(index):
        inner.parent = fault
        yield from _explain(inner, values, depth + 1)


def _explain_nearest(
    fault: Fault, plausible: list[int], values: Values, depth: int
) -> Iterator[Violation]:
    """Yield the violations of the branch with the fewest faults, or one of all such branches."""
    nearest = compare_branches(fault, plausible)
    if not nearest:
        yield _violation(fault, explain_fault(fault, values))
    elif len(nearest) == 1:
        yield from _explain_branch(fault, nearest[0].index, values, depth)
    else:
        message, path = explain_alternatives(fault, nearest, values)
        yield _violation(fault, message, path)


_NAMING = frozenset({"required", "additionalProperties", "unevaluatedProperties"})
"""Keywords whose faults are about names."""


def _steps(fault: Fault) -> int:
    """Return the most steps that it takes to explain *fault*."""
    # A missing name is compared with the names of the instance, not with other required ones.
    compared = () if fault.keyword == "required" else fault.keyword_value
    counts = [len(part) for part in (fault.instance, compared) if isinstance(part, dict | list)]
    steps = _MESSAGE + _NAME * min(MOST_CANDIDATES, max(counts, default=0))
    if fault.keyword in _NAMING and isinstance(fault.instance, dict):
        # Unknown names are compared with declared ones, and the nearest with the others again.
        declared = len(fault.schema.get("properties", ()))
        steps += _NAME * min(MOST_CANDIDATES, declared + len(fault.instance))
    if fault.explore_branch is not None and counts:
        # Each branch is compared with all properties.
        steps += min(MOST_BRANCHES, len(fault.keyword_value)) * (_BRANCH + counts[0])
    return steps


def _violation(
    fault: Fault, message: Message, path: Sequence[str | int] | None = None
) -> Violation:
    """Return the violation of *fault*, at *path* if that is not the place of the fault."""
    keyword: str = fault.keyword
    return Violation(
        instance_location=as_pointer(fault.absolute_path if path is None else path),
        keyword_location=as_pointer(fault.absolute_schema_path),
        keyword=keyword,
        code=_code(keyword),
        message=_cut(message.text),
        suggestion=message.suggestion,
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@lru_cache(maxsize=128)  # There are fewer keywords.
def _code(keyword: str) -> str:
    if not keyword:
        return "FALSE_SCHEMA"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", keyword).upper()
