"""The one way to a verdict."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
    #: The largest text of all of them, in characters; one is always told.
    max_length: int = 1 << 20
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
        found: list[Violation] = []
        more = _collect(error.violations, how, found)
        return Verdict.listing(found, truncated=more or error.truncated)
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
        more = _collect(_explained(compiled, value, how, budget), how, found)
    except _TOO_LONG:
        # One violation is enough to know the verdict.
        if not (found and patient):
            raise
        more = True
    return Verdict.listing(found, truncated=more)


def _explain(
    compiled: CompiledSchema, value: JsonValue, how: Judging, budget: Budget, *, patient: bool
) -> Verdict:
    """Let the complete engine say why the fast one said no."""
    found: list[Violation] = []
    try:
        more = _collect(_explained(compiled, value, how, budget), how, found)
    except _TOO_LONG:
        # The verdict is known; only its reasons are too many steps or too deep away.
        if not patient:
            raise
        if not found:
            return _not_explained("the payload is invalid, and telling why would take too long")
        more = True
    if found:
        return Verdict.listing(found, truncated=more)
    # Either engine may be wrong. A wrong "no" is seen and reported; a wrong "yes" is not.
    said = "the payload is invalid, but the engines do not agree why; please report this schema"
    return Verdict((Violation("", "", "", DISAGREEMENT, said),))


def _explained(
    compiled: CompiledSchema, value: JsonValue, how: Judging, budget: Budget
) -> Iterator[Violation]:
    return explain(compiled.complete.faults(value, budget), hide_values=how.hide_values)


def _collect(violations: Iterable[Violation], how: Judging, found: list[Violation]) -> bool:
    """Add as many of *violations* to *found* as are wanted; return whether there are more.

    The first ones are kept, so that the answer costs no more than they do.
    """
    left = how.max_length
    for violation in violations:
        left -= violation.length
        if len(found) == how.max_violations or (found and left < 0):
            return True
        found.append(violation)
    return False


def _not_explained(said: str) -> Verdict:
    return Verdict((Violation("", "", "", NOT_EXPLAINED, said),), truncated=True)
