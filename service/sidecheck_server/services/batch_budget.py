"""Budget of a batch: the total of what its items may cost and report."""

from dataclasses import replace

from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.types import SEVERITY_RANK, Verdict, Violation

__all__ = ["BatchBudget"]


class BatchBudget:
    """What the remaining items of a batch may use.

    Bounds offloaded items, violations and their text, and text that the response repeats
    of the request. Each verdict reports at least one violation.
    """

    __slots__ = (
        "_characters",
        "_message_bytes",
        "_offloaded",
        "_offloaded_limit",
        "_text",
        "_violations",
    )

    def __init__(self, limits: Limits) -> None:
        self._offloaded = self._offloaded_limit = limits.offloaded_items
        self._violations = limits.batch_violations
        self._characters = limits.verdict_characters
        self._text = self._message_bytes = limits.message_bytes

    def count_offloaded(self) -> None:
        """Count an item that a worker validates.

        Raises:
            RequestError: LIMIT_EXCEEDED if there are too many.
        """
        if not self._offloaded:
            raise limit_exceeded_error(
                "offloaded_items", self._offloaded_limit, "items of the batch that need a worker"
            )
        self._offloaded -= 1

    def limit_evaluation(self, options: EvaluationOptions) -> EvaluationOptions:
        """Return *options*, bounded by the violations that the batch may still report."""
        if options.max_violations <= self._violations and options.max_length <= self._characters:
            return options
        return replace(
            options,
            max_violations=max(1, min(options.max_violations, self._violations)),
            max_length=self._characters,
            explains=options.explains and self._characters > 0,
        )

    def limit_report(self, limits: ReportLimits) -> ReportLimits:
        """Return *limits*, bounded by the violations that the batch may still report."""
        if limits.max_violations <= self._violations and limits.max_characters <= self._characters:
            return limits
        most = max(1, min(limits.max_violations, self._violations))
        return replace(limits, max_violations=most, max_characters=self._characters)

    def charge(self, verdict: Verdict) -> None:
        """Deduct the violations of *verdict* and the text of its repair.

        Raises:
            RequestError: LIMIT_EXCEEDED if the repairs of the batch are too large in total.
        """
        self._violations = max(0, self._violations - len(verdict.violations))
        self.charge_characters(sum(violation.length for violation in verdict.violations))
        if verdict.repair is not None:
            self.charge_text(verdict.repair.length, "the repaired payloads of the batch")

    @property
    def has_characters(self) -> bool:
        """Whether more than the first violation of each verdict may be reported."""
        return self._characters > 0

    def charge_characters(self, length: int) -> None:
        """Deduct *length* characters of violations, or of replies beside them."""
        self._characters = max(0, self._characters - length)

    def truncate(self, verdict: Verdict) -> Verdict:
        """Return *verdict* with the most severe violations that may be reported, and charge it."""
        violations = verdict.violations
        length = sum(violation.length for violation in violations)
        if len(violations) > self._violations or length > self._characters:
            verdict = self._truncated(violations)
        self.charge(verdict)
        return verdict

    def _truncated(self, violations: tuple[Violation, ...]) -> Verdict:
        kept: list[Violation] = []
        left = self._characters
        for violation in sorted(
            violations, key=lambda violation: SEVERITY_RANK[violation.severity]
        ):
            left -= violation.length
            if kept and (left < 0 or len(kept) >= self._violations):
                break
            kept.append(violation)
        return Verdict.listing(kept, truncated=len(kept) < len(violations))

    def charge_text(self, length: int, subject: str) -> None:
        """Deduct *length* characters of the request that the response repeats.

        Raises:
            RequestError: LIMIT_EXCEEDED, about *subject*, if there are too many in total.
        """
        self._text -= length
        if self._text < 0:
            raise limit_exceeded_error("message_bytes", self._message_bytes, subject)
