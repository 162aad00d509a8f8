"""Evaluation of payloads: from JSON bytes to a verdict.

The fast engine decides validity. The complete engine decides for schemas without a fast
engine, and finds the violations of invalid payloads.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import (
    Budget,
    Exhausted,
    limit_exceeded_error,
    recursion_depth_error,
    spend,
)
from sidecheck_server.core.payload import MalformedError, decode, number_steps
from sidecheck_server.core.repair.repairs import apply_repairs, encode_repaired
from sidecheck_server.core.repair.types import Repairs, UnknownArguments
from sidecheck_server.core.repair.unknown_properties import (
    find_unknown_properties,
    report_unknown_properties,
)
from sidecheck_server.core.types import JsonValue, Repair, Severity, Verdict, Violation

__all__ = [
    "DETAILS_UNAVAILABLE",
    "DISAGREEMENT",
    "VALID",
    "EvaluationOptions",
    "details_unavailable",
    "evaluate",
    "try_evaluate_inline",
]

DISAGREEMENT = "ENGINE_DISAGREEMENT"
"""Code of the violation for a disagreement of the two engines, which is a defect."""

DETAILS_UNAVAILABLE = "DETAILS_UNAVAILABLE"
"""Code of the only violation of an invalid payload whose violations are not listed."""

VALID = Verdict()
"""The verdict on a valid payload."""

_OUT_OF_BOUNDS = (Exhausted, RecursionError)
_UNKNOWN_SEVERITIES = {
    UnknownArguments.REJECT: Severity.ERROR,
    UnknownArguments.REPORT: Severity.WARNING,
}


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Options of one evaluation."""

    #: Most violations in the verdict; at least one, since a verdict without any is valid.
    max_violations: int = 20
    #: Longest text of all violations, in characters; the first is always reported.
    max_length: int = 1 << 20
    #: Whether messages leave out values and names of the payload.
    hide_values: bool = False
    #: Whether to list the violations of an invalid payload.
    explains: bool = True
    #: Repairs to return with the verdict, if requested.
    repairs: Repairs | None = None

    def __post_init__(self) -> None:
        if self.max_violations < 1:
            raise ValueError("max_violations must be at least 1")


def evaluate(compiled: CompiledSchema, payload: bytes, options: EvaluationOptions) -> Verdict:
    """Return the verdict on the JSON text *payload*, within the limits of *compiled*.

    Raises:
        RequestError: LIMIT_EXCEEDED, with the name of the limit in its metadata.
    """
    limits = compiled.limits
    if len(payload) > limits.payload_bytes:
        raise limit_exceeded_error(
            "payload_bytes", limits.payload_bytes, "the payload", len(payload)
        )
    budget = [limits.steps]
    try:
        verdict = _evaluate(compiled, payload, options, budget, inline=False)
    except Exhausted:
        raise limit_exceeded_error(
            "steps", limits.steps, "evaluating the payload takes too long"
        ) from None
    except RecursionError:
        raise recursion_depth_error("payload and schema nest too deeply to evaluate") from None
    return replace(verdict, steps=limits.steps - max(0, budget[0]))


def try_evaluate_inline(
    compiled: CompiledSchema, payload: bytes, options: EvaluationOptions, budget: Budget
) -> Verdict | None:
    """Return the verdict of `evaluate`; None if it takes too long for the event loop.

    The steps taken are subtracted from *budget*.

    Raises:
        RequestError: as `evaluate`.
    """
    limits = compiled.limits
    if len(payload) > limits.inline_bytes or compiled.backtracking:
        if len(payload) > limits.payload_bytes:
            raise limit_exceeded_error(
                "payload_bytes", limits.payload_bytes, "the payload", len(payload)
            )
        return None
    try:
        if steps := number_steps(payload):
            spend(budget, steps)
        return _evaluate(compiled, payload, options, budget, inline=True)
    except _OUT_OF_BOUNDS:
        return None


def _evaluate(
    compiled: CompiledSchema,
    payload: bytes,
    options: EvaluationOptions,
    budget: Budget,
    *,
    inline: bool,
) -> Verdict:
    # Fast path: most payloads are valid and are decided here.
    try:
        depth = compiled.limits.payload_depth
        value = decode(payload, max_depth=depth, max_violations=options.max_violations)
    except MalformedError as error:
        violations: list[Violation] = []
        truncated = _collect(error.violations, options, violations)
        return Verdict.listing(violations, truncated=truncated or error.truncated)
    fast = compiled.fast
    valid = None if fast is None else fast.is_valid(value, budget)
    if valid and options.repairs is None:
        return VALID
    return Evaluator(compiled, options, budget, inline=inline).evaluate(payload, value, valid)


def _collect(
    source: Iterable[Violation], options: EvaluationOptions, violations: list[Violation]
) -> bool:
    """Move violations from *source* to *violations* up to the limits of *options*.

    Return whether *source* has more, which stay uncomputed.
    """
    characters = options.max_length
    for violation in source:
        characters -= violation.length
        if len(violations) >= options.max_violations or (violations and characters < 0):
            return True
        violations.append(violation)
    return False


class Evaluator:
    """Evaluation of one decoded payload within a budget.

    When the budget is spent, an *inline* evaluation raises Exhausted. Otherwise the result
    is an incomplete verdict, provided that the payload is known to be invalid.
    """

    __slots__ = ("_budget", "_compiled", "_inline", "_options")

    def __init__(
        self,
        compiled: CompiledSchema,
        options: EvaluationOptions,
        budget: Budget,
        *,
        inline: bool,
    ) -> None:
        self._compiled = compiled
        self._options = options
        self._budget = budget
        self._inline = inline

    def evaluate(self, payload: bytes, value: JsonValue, valid: bool | None) -> Verdict:  # noqa: FBT001
        """Return the verdict on *value*, the decoded *payload*.

        *valid* is the fast engine's decision, or None if there is no fast engine.
        """
        repairs = self._options.repairs
        verdict = self._evaluate_schema(value, valid)
        if repairs is None:
            return verdict
        try:
            repair = self._repair(payload, value, repairs, valid=verdict.valid)
            verdict = self._add_unknown(verdict, value, repairs.unknown)
        except _OUT_OF_BOUNDS:
            # Repairs cannot change the verdict on the original payload.
            if verdict.valid or self._inline:
                raise
            return replace(verdict, truncated=True)
        return replace(verdict, repair=repair) if repair is not None else verdict

    def _evaluate_schema(self, value: JsonValue, valid: bool | None) -> Verdict:  # noqa: FBT001
        """Return the verdict of the schema alone."""
        if valid is None:
            return self._decide(value)
        if valid:
            return VALID
        if not self._options.explains:
            return details_unavailable("the payload is invalid; details were not requested")
        return self._explain(value)

    def _decide(self, value: JsonValue) -> Verdict:
        """Return the verdict of the complete engine, for a schema without a fast one."""
        violations: list[Violation] = []
        try:
            truncated = _collect(self._find_violations(value), self._options, violations)
        except _OUT_OF_BOUNDS:
            # One violation is enough to decide.
            if not violations or self._inline:
                raise
            truncated = True
        return Verdict.listing(violations, truncated=truncated)

    def _explain(self, value: JsonValue) -> Verdict:
        """Return the verdict on *value*, which the fast engine found invalid."""
        violations: list[Violation] = []
        try:
            truncated = _collect(self._find_violations(value), self._options, violations)
        except _OUT_OF_BOUNDS:
            # Decision 0013: the payload is known to be invalid; only the explanation
            # exceeds the budget or the stack.
            if self._inline:
                raise
            if not violations:
                return details_unavailable()
            truncated = True
        if violations:
            return Verdict.listing(violations, truncated=truncated)
        # Either engine may be wrong. Only a wrong "invalid" of the fast engine is detected;
        # a wrong "valid" is not.
        message = (
            "the payload is invalid, but the validation engines disagree why; "
            "please report this schema"
        )
        return Verdict((Violation("", "", "", DISAGREEMENT, message),))

    def _find_violations(self, value: JsonValue) -> Iterator[Violation]:
        if self._inline and not self._compiled.explains_inline:
            raise Exhausted
        faults = self._compiled.complete.faults(value, self._budget)
        # If the steps of the event loop do not suffice, a worker repeats the evaluation with more.
        return explain(
            faults, hide_values=self._options.hide_values, raise_if_exhausted=self._inline
        )

    def _add_unknown(
        self, verdict: Verdict, value: JsonValue, unknown: UnknownArguments
    ) -> Verdict:
        """Return *verdict* with the unknown properties of *value*, if they are requested."""
        severity = _UNKNOWN_SEVERITIES.get(unknown)
        if severity is None:
            return verdict
        properties = find_unknown_properties(
            self._compiled.complete, value, self._budget, hide_values=self._options.hide_values
        )
        violations = list(verdict.violations)
        reported = report_unknown_properties(properties, severity, verdict.violations)
        truncated = _collect(reported, self._options, violations)
        return Verdict.listing(violations, truncated=verdict.truncated or truncated)

    # Decision 0021: the verdict is on the original payload; the repaired one is returned with it.
    def _repair(
        self, payload: bytes, value: JsonValue, repairs: Repairs, *, valid: bool
    ) -> Repair | None:
        """Return the repaired payload, or None if there is nothing to change or report."""
        limits = self._compiled.limits
        repaired, changes = apply_repairs(
            self._compiled.complete,
            value,
            repairs,
            self._budget,
            valid=valid,
            hide_values=self._options.hide_values,
            max_depth=limits.payload_depth,
        )
        if not changes:
            return None
        text = payload if repaired is value else encode_repaired(repaired, limits, self._budget)
        fast = self._compiled.fast
        still_valid = None if fast is None else fast.is_valid(repaired, self._budget)
        verdict = self._evaluate_schema(repaired, still_valid)
        return Repair(text, self._add_unknown(verdict, repaired, repairs.unknown), changes)


def details_unavailable(
    message: str = "the payload is invalid; finding the details would take too long",
) -> Verdict:
    """Return the verdict on an invalid payload without its violations."""
    return Verdict((Violation("", "", "", DETAILS_UNAVAILABLE, message),), truncated=True)
