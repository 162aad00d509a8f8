"""Violations from faults: one for each thing that is wrong with a payload."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.choices import Discriminator, select_branch
from sidecheck_server.core.explain.keyword_messages import Message
from sidecheck_server.core.explain.messages import explain_discriminator, explain_fault
from sidecheck_server.core.explain.nearest import MOST_CANDIDATES
from sidecheck_server.core.explain.schemas import MOST_BRANCHES
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.json_values import json_equal
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
    seen: set[tuple[str, str, str]] = set()
    for fault in faults:
        for violation in _explain(fault, values, 0):
            # Several paths of evaluation may lead to the same demand.
            key = (violation.instance_location, violation.keyword, violation.message)
            if key not in seen:
                seen.add(key)
                yield violation


def _explain(fault: Fault, values: Values, depth: int) -> Iterator[Violation]:
    spend(fault.scope.budget, _steps(fault))
    if _is_implied(fault):
        return
    if fault.explore_branch is None:
        yield _violation(fault, explain_fault(fault, values))
        return
    branch = select_branch(fault)
    if isinstance(branch, int) and depth >= _DEEPEST:
        actual = values.describe(fault.instance)
        text = f"none of the alternatives matches, for a deeply nested reason; found {actual}"
        yield _violation(fault, Message(text))
        return
    if isinstance(branch, Discriminator):
        path = (branch.name,) if branch.name in fault.instance else ()
        message = explain_discriminator(branch.name, branch.values, fault, values)
        yield _violation(fault, message, path)
    elif branch is None:
        yield _violation(fault, explain_fault(fault, values))
    else:
        for inner in fault.explore_branch(branch):
            inner.parent = fault
            yield from _explain(inner, values, depth + 1)


def _steps(fault: Fault) -> int:
    """Return the most steps that it takes to explain *fault*."""
    # A missing name is compared with the names of the instance, not with other required ones.
    compared = () if fault.keyword == "required" else fault.keyword_value
    counts = [len(part) for part in (fault.instance, compared) if isinstance(part, dict | list)]
    steps = _MESSAGE + _NAME * min(MOST_CANDIDATES, max(counts, default=0))
    if fault.explore_branch is not None and counts:
        # Each branch is compared with all properties.
        steps += min(MOST_BRANCHES, len(fault.keyword_value)) * (_BRANCH + counts[0])
    return steps


def _is_implied(fault: Fault) -> bool:
    """Return whether *fault* is of ``type``, and ``const`` or ``enum`` beside it says more."""
    if fault.keyword != "type":
        return False
    in_force = fault.scope.dialect.keywords
    if "const" in fault.schema and "const" in in_force:
        return not json_equal(fault.schema["const"], fault.instance)
    if "enum" in fault.schema and "enum" in in_force:
        return not any(json_equal(value, fault.instance) for value in fault.schema["enum"])
    return False


def _violation(fault: Fault, message: Message, path: tuple[str, ...] = ()) -> Violation:
    keyword: str = fault.keyword
    return Violation(
        instance_location=as_pointer((*fault.absolute_path, *path)),
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
