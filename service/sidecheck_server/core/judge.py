"""The one way to a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from sidecheck_server.core.budget import Budget, Exhausted
from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import exceeded
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.words import JsonValue, Verdict, Violation

__all__ = ["DISAGREEMENT", "NOT_EXPLAINED", "Judging", "judge", "judge_at_once"]

DISAGREEMENT = "ENGINE_DISAGREEMENT"
"""The code of the violation that says that the engines differ; never to be seen."""

NOT_EXPLAINED = "NOT_EXPLAINED"
"""The code of the violation of a payload whose faults are not told."""

_VALID = Verdict()
_TOO_LONG = (Exhausted, RecursionError)


@dataclass(frozen=True, slots=True)
class Judging:
    """How to judge."""

    #: The largest number of violations in the verdict; at least one, since a verdict
    #: without any is valid.
    max_violations: int = 20
    #: Whether messages leave out what the payload holds.
    hide_values: bool = False
    #: Whether to look for what is wrong with an invalid payload.
    explains: bool = True

    def __post_init__(self) -> None:
        if self.max_violations < 1:
            raise ValueError("max_violations must be at least 1")


def judge(compiled: CompiledSchema, payload: bytes, how: Judging) -> Verdict:
    """Return the verdict on the JSON text *payload*, whatever it takes within the limits.

    Raises:
        Refusal: LIMIT_EXCEEDED, with the bound in its metadata.
    """
    limits = compiled.limits
    if len(payload) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, "the payload", len(payload))
    try:
        return _judge(compiled, payload, how, [limits.steps], patient=True)
    except Exhausted:
        raise exceeded("steps", limits.steps, "judging the payload takes too long") from None
    except RecursionError:
        raise exceeded("steps", limits.steps, "judging the payload nests too deep") from None


def judge_at_once(compiled: CompiledSchema, payload: bytes, how: Judging) -> Verdict | None:
    """Return the verdict that `judge` returns, or None if it takes longer than a moment.

    Raises:
        Refusal: as `judge`.
    """
    limits = compiled.limits
    if len(payload) > limits.bytes_at_once and len(payload) <= limits.payload_bytes:
        return None
    if len(payload) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, "the payload", len(payload))
    try:
        return _judge(compiled, payload, how, [limits.steps_at_once], patient=False)
    except _TOO_LONG:
        return None


def _judge(
    compiled: CompiledSchema, payload: bytes, how: Judging, budget: Budget, *, patient: bool
) -> Verdict:
    try:
        depth = compiled.limits.payload_depth
        value = decode(payload, max_depth=depth, most=how.max_violations)
    except MalformedError as error:
        return _listing(error.violations, how, ended=not error.truncated)
    if compiled.fast is None:
        return _decide(compiled, value, how, budget, patient=patient)
    if compiled.fast.is_valid(value, budget):
        return _VALID
    if not how.explains:
        return _not_explained("the payload is invalid; what is wrong was not asked for")
    return _explain(compiled, value, how, budget, patient=patient)


def _decide(
    compiled: CompiledSchema, value: JsonValue, how: Judging, budget: Budget, *, patient: bool
) -> Verdict:
    """Let the complete engine say yes or no."""
    found: list[Violation] = []
    try:
        _collect(compiled, value, how, budget, found)
    except _TOO_LONG:
        # One violation is enough to know the verdict.
        if not (found and patient):
            raise
        return _listing(found, how, ended=False)
    return _listing(found, how)


def _explain(
    compiled: CompiledSchema, value: JsonValue, how: Judging, budget: Budget, *, patient: bool
) -> Verdict:
    """Let the complete engine say why the fast one said no."""
    found: list[Violation] = []
    ended = True
    try:
        _collect(compiled, value, how, budget, found)
    except _TOO_LONG:
        # The verdict is known; only its reasons are too many steps or too deep away.
        if not patient:
            raise
        ended = False
    if found:
        return _listing(found, how, ended=ended)
    if not ended:
        return _not_explained("the payload is invalid, and telling why would take too long")
    # Either engine may be wrong. A wrong "no" is seen and reported; a wrong "yes" is not.
    said = "the payload is invalid, but the engines do not agree why; please report this schema"
    return Verdict((Violation("", "", "", DISAGREEMENT, said),))


def _not_explained(said: str) -> Verdict:
    return Verdict((Violation("", "", "", NOT_EXPLAINED, said),), truncated=True)


def _collect(
    compiled: CompiledSchema,
    value: JsonValue,
    how: Judging,
    budget: Budget,
    found: list[Violation],
) -> None:
    """Add violations to *found* until there are more than wanted."""
    lazily = explain(compiled.complete.faults(value, budget), hide_values=how.hide_values)
    found.extend(islice(lazily, how.max_violations + 1))


def _listing(found: Sequence[Violation], how: Judging, *, ended: bool = True) -> Verdict:
    # The first ones found are kept, so that the answer costs no more than they do.
    kept = found[: how.max_violations]
    return Verdict.listing(kept, truncated=not ended or len(found) > len(kept))
