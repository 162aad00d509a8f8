"""The one way to a verdict."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sidecheck_server.core.budget import Budget, Exhausted
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import exceeded
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.repair.repairing import repaired, text_of
from sidecheck_server.core.repair.types import Repairs, UnknownArguments
from sidecheck_server.core.repair.unknown import unknown_members
from sidecheck_server.core.types import JsonValue, Repair, Severity, Verdict, Violation

__all__ = [
    "DETAILS_UNAVAILABLE",
    "DISAGREEMENT",
    "UNKNOWN_PROPERTY",
    "VALID",
    "EvaluationOptions",
    "details_unavailable",
    "judge",
    "try_evaluate_inline",
]

DISAGREEMENT = "ENGINE_DISAGREEMENT"
"""The code of the violation that says that the engines differ; never to be seen."""

DETAILS_UNAVAILABLE = "DETAILS_UNAVAILABLE"
"""The code of the violation of a payload whose faults are not told."""

UNKNOWN_PROPERTY = "UNKNOWN_PROPERTY"
"""The code of the violation of a member that the schema does not know, if one asks."""

VALID = Verdict()
"""The verdict on a payload of which there is nothing to say."""

_TOO_LONG = (Exhausted, RecursionError)
_UNKNOWN = {
    UnknownArguments.REFUSE: Severity.ERROR,
    UnknownArguments.REPORT: Severity.WARNING,
}


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
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
    #: What is asked for beside the verdict of the schema, if anything.
    repairs: Repairs | None = None

    def __post_init__(self) -> None:
        if self.max_violations < 1:
            raise ValueError("max_violations must be at least 1")


def judge(compiled: CompiledSchema, payload: bytes, how: EvaluationOptions) -> Verdict:
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


def try_evaluate_inline(
    compiled: CompiledSchema, payload: bytes, how: EvaluationOptions
) -> Verdict | None:
    """Return the verdict that `judge` returns, or None if it takes longer than a moment.

    Raises:
        Refusal: as `judge`.
    """
    limits = compiled.limits
    if len(payload) > limits.inline_bytes or compiled.backtracking:
        if len(payload) > limits.payload_bytes:
            raise exceeded("payload_bytes", limits.payload_bytes, "the payload", len(payload))
        return None
    try:
        return _judge(compiled, payload, how, [limits.inline_steps], patient=False)
    except _TOO_LONG:
        return None


def _judge(
    compiled: CompiledSchema,
    payload: bytes,
    how: EvaluationOptions,
    budget: Budget,
    *,
    patient: bool,
) -> Verdict:
    # Most payloads are valid, and need no more than the first lines.
    try:
        depth = compiled.limits.payload_depth
        value = decode(payload, max_depth=depth, most=how.max_violations)
    except MalformedError as error:
        found: list[Violation] = []
        more = _collect(error.violations, how, found)
        return Verdict.listing(found, truncated=more or error.truncated)
    fast = compiled.fast
    valid = None if fast is None else fast.is_valid(value, budget)
    if valid and how.repairs is None:
        return VALID
    return Evaluator(compiled, how, budget, patient=patient).judge(payload, value, valid)


def _collect(
    violations: Iterable[Violation], how: EvaluationOptions, found: list[Violation]
) -> bool:
    """Add as many of *violations* to *found* as are wanted; return whether there are more.

    The first ones are kept, so that the answer costs no more than they do.
    """
    left = how.max_length
    for violation in violations:
        left -= violation.length
        if len(found) >= how.max_violations or (found and left < 0):
            return True
        found.append(violation)
    return False


class Evaluator:
    """Judges one payload that is JSON, within a budget.

    A *patient* one makes the best of what it found when the budget ends.
    """

    __slots__ = ("_budget", "_compiled", "_how", "_patient")

    def __init__(
        self, compiled: CompiledSchema, how: EvaluationOptions, budget: Budget, *, patient: bool
    ) -> None:
        self._compiled = compiled
        self._how = how
        self._budget = budget
        self._patient = patient

    def judge(self, payload: bytes, value: JsonValue, valid: bool | None) -> Verdict:  # noqa: FBT001
        """Return the verdict on *value*, of which the fast engine said whether it is *valid*."""
        how = self._how
        verdict = self._verdict(value, valid)
        if how.repairs is None:
            return verdict
        try:
            repair = self._repair(payload, value, how.repairs, valid=verdict.valid)
            verdict = self._with_unknown(verdict, value, how.repairs.unknown)
        except _TOO_LONG:
            # That it is invalid is known, whatever else was asked for.
            if verdict.valid or not self._patient:
                raise
            return replace(verdict, truncated=True)
        return replace(verdict, repair=repair) if repair is not None else verdict

    def _verdict(self, value: JsonValue, valid: bool | None) -> Verdict:  # noqa: FBT001
        """Return the verdict of the schema alone."""
        if valid is None:
            return self._decide(value)
        if valid:
            return VALID
        if not self._how.explains:
            return details_unavailable("the payload is invalid; what is wrong was not asked for")
        return self._explain(value)

    def _judged(self, value: JsonValue) -> Verdict:
        """Return the verdict of the schema on a value that the fast engine has not seen."""
        fast = self._compiled.fast
        return self._verdict(value, None if fast is None else fast.is_valid(value, self._budget))

    def _decide(self, value: JsonValue) -> Verdict:
        """Let the complete engine say yes or no."""
        found: list[Violation] = []
        try:
            more = _collect(self._explained(value), self._how, found)
        except _TOO_LONG:
            # One violation is enough to know the verdict.
            if not (found and self._patient):
                raise
            more = True
        return Verdict.listing(found, truncated=more)

    def _explain(self, value: JsonValue) -> Verdict:
        """Let the complete engine say why the fast one said no."""
        found: list[Violation] = []
        try:
            more = _collect(self._explained(value), self._how, found)
        except _TOO_LONG:
            # The verdict is known; only its reasons are too many steps or too deep away.
            if not self._patient:
                raise
            if not found:
                return details_unavailable()
            more = True
        if found:
            return Verdict.listing(found, truncated=more)
        # Either engine may be wrong. A wrong "no" is seen and reported; a wrong "yes" is not.
        said = "the payload is invalid, but the engines do not agree why; please report this schema"
        return Verdict((Violation("", "", "", DISAGREEMENT, said),))

    def _explained(self, value: JsonValue) -> Iterator[Violation]:
        if not (self._patient or self._compiled.explains_at_once):
            raise Exhausted
        faults = self._compiled.complete.faults(value, self._budget)
        return explain(faults, hide_values=self._how.hide_values)

    def _with_unknown(
        self, verdict: Verdict, value: JsonValue, unknown: UnknownArguments
    ) -> Verdict:
        """Return *verdict* with the members that the schema does not know, if one asks."""
        severity = _UNKNOWN.get(unknown)
        if severity is None:
            return verdict
        hidden = self._how.hide_values
        members = unknown_members(self._compiled.complete, value, self._budget, hide_values=hidden)
        found = list(verdict.violations)
        more = _collect(
            (
                Violation(
                    instance_location=member.pointer,
                    keyword_location=member.keyword_location,
                    keyword="properties",
                    code=UNKNOWN_PROPERTY,
                    message=member.message,
                    severity=severity,
                    suggestion=member.suggestion,
                )
                for member in members
            ),
            self._how,
            found,
        )
        return Verdict.listing(found, truncated=verdict.truncated or more)

    def _repair(
        self, payload: bytes, value: JsonValue, asked: Repairs, *, valid: bool
    ) -> Repair | None:
        """Return what the payload becomes, or None if there is nothing to do or to say."""
        limits = self._compiled.limits
        after, changes = repaired(
            self._compiled.complete,
            value,
            asked,
            self._budget,
            valid=valid,
            hide_values=self._how.hide_values,
            max_depth=limits.payload_depth,
        )
        if not changes:
            return None
        text = payload if after is value else text_of(after, limits, self._budget)
        verdict = self._with_unknown(self._judged(after), after, asked.unknown)
        return Repair(text, verdict, changes)


def details_unavailable(
    said: str = "the payload is invalid, and telling why would take too long",
) -> Verdict:
    """Return the verdict on a payload of which only that it is invalid is known."""
    return Verdict((Violation("", "", "", DETAILS_UNAVAILABLE, said),), truncated=True)
