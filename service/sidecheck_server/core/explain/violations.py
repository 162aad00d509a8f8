"""Conversion of faults to violations: one violation for each error of a payload."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.choices import (
    Discriminator,
    compare_branches,
    explain_alternatives,
    find_plausible_branches,
)
from sidecheck_server.core.explain.implications import is_implied
from sidecheck_server.core.explain.messages import explain_discriminator, explain_fault
from sidecheck_server.core.explain.nearest import MOST_CANDIDATES
from sidecheck_server.core.explain.schemas import MOST_BRANCHES
from sidecheck_server.core.explain.values import Message, Values, count_noun
from sidecheck_server.core.limits import Exhausted, spend
from sidecheck_server.core.types import Violation, as_pointer

__all__ = ["explain"]

_DEEPEST = 24
"""Most nested choices whose branches are explored."""

# Steps for a message, for comparing two names, and for reading a branch.
_MESSAGE = 1000
_NAME = 150
_BRANCH = 400

_LONGEST = 1000
"""Longest message, in characters."""


def explain(
    faults: Iterable[Fault], *, hide_values: bool, raise_if_exhausted: bool = False
) -> Iterator[Violation]:
    """Yield the violations for *faults*, lazily and without duplicates.

    With *hide_values*, messages and suggestions contain nothing of the payload. If comparing
    the branches of a choice takes too many steps, the choice is reported without a reason,
    or, with *raise_if_exhausted*, Exhausted is raised, so that the caller can retry with more
    steps.

    Raises:
        Exhausted: the budget of *faults* has too few steps.
    """
    explainer = _Explainer(Values(hidden=hide_values), raise_if_exhausted)
    seen: set[tuple[str, str]] = set()
    for fault in faults:
        for violation in explainer.explain(fault, 0):
            # Several paths of evaluation may lead to the same violation.
            key = (violation.instance_location, violation.message)
            if key not in seen:
                seen.add(key)
                yield violation


@dataclass(frozen=True, slots=True)
class _Explainer:
    values: Values
    #: Whether to raise Exhausted rather than report a choice without its reason.
    raise_if_exhausted: bool

    def explain(self, fault: Fault, depth: int) -> Iterator[Violation]:
        """Yield the violations of *fault*, at nesting level *depth* of choices."""
        spend(fault.scope.budget, _estimate_steps(fault))
        if is_implied(fault):
            return
        if fault.explore_branch is None:
            yield _violation(fault, explain_fault(fault, self.values))
            return
        plausible = find_plausible_branches(fault)
        if isinstance(plausible, Discriminator):
            path = (plausible.name,) if plausible.name in fault.instance else ()
            message = explain_discriminator(plausible.name, plausible.values, fault, self.values)
            yield _violation(fault, message, (*fault.absolute_path, *path))
        elif plausible and depth >= _DEEPEST:
            actual = self.values.describe(fault.instance)
            text = f"none of the alternatives matches, for a deeply nested reason; found {actual}"
            yield _violation(fault, Message(text))
        elif len(plausible) == 1:
            yield from self.explain_branch(fault, plausible[0], depth)
        else:
            yield from self.explain_nearest(fault, plausible, depth)

    def explain_branch(self, fault: Fault, index: int, depth: int) -> Iterator[Violation]:
        """Yield the violations of the branch at *index* of the choice *fault*."""
        assert fault.explore_branch is not None
        for inner in fault.explore_branch(index):
            inner.parent = fault
            yield from self.explain(inner, depth + 1)

    def explain_nearest(
        self, fault: Fault, plausible: list[int], depth: int
    ) -> Iterator[Violation]:
        """Yield the violations of the branch with the fewest faults.

        If several branches have as few, yield one violation for all of them.
        """
        try:
            nearest = compare_branches(fault, plausible)
        except Exhausted:
            if self.raise_if_exhausted:
                raise
            total = count_noun(len(fault.keyword_value), "alternative")
            actual = self.values.describe(fault.instance)
            text = f"none of {total} matches; explaining why takes too many steps; found {actual}"
            yield _violation(fault, Message(text))
            return
        if not nearest:
            yield _violation(fault, explain_fault(fault, self.values))
        elif len(nearest) == 1:
            yield from self.explain_branch(fault, nearest[0].index, depth)
        else:
            message, path = explain_alternatives(fault, nearest, self.values)
            yield _violation(fault, message, path)


_NAMING = frozenset({"required", "additionalProperties", "unevaluatedProperties"})
"""Keywords whose faults concern property names."""


def _estimate_steps(fault: Fault) -> int:
    """Return an upper bound on the steps of explaining *fault*."""
    # A missing name is compared with the names of the instance, not with required names.
    compared = () if fault.keyword == "required" else fault.keyword_value
    counts = [len(part) for part in (fault.instance, compared) if isinstance(part, dict | list)]
    steps = _MESSAGE + _NAME * min(MOST_CANDIDATES, max(counts, default=0))
    if fault.keyword in _NAMING and isinstance(fault.instance, dict):
        # Unknown names are compared with declared ones, and the nearest with all names again.
        declared = len(fault.schema.get("properties", ()))
        steps += _NAME * min(MOST_CANDIDATES, declared + len(fault.instance))
    if fault.explore_branch is not None and counts:
        # Each branch is compared with all properties.
        steps += min(MOST_BRANCHES, len(fault.keyword_value)) * (_BRANCH + counts[0])
    return steps


def _violation(
    fault: Fault, message: Message, path: Sequence[str | int] | None = None
) -> Violation:
    """Return the violation of *fault*, located at *path* if given."""
    keyword: str = fault.keyword
    return Violation(
        instance_location=as_pointer(fault.absolute_path if path is None else path),
        keyword_location=as_pointer(fault.absolute_schema_path),
        keyword=keyword,
        code=_code(keyword),
        message=_shorten(message.text),
        suggestion=message.suggestion,
    )


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@lru_cache(maxsize=128)  # more than there are keywords
def _code(keyword: str) -> str:
    if not keyword:
        return "FALSE_SCHEMA"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", keyword).upper()
