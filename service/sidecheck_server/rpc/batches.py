"""Batches: what one has done, and what it may still do, so that it cannot multiply work."""

from dataclasses import replace

from sidecheck_server.core.judge import Judging
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.subjects import How
from sidecheck_server.core.words import Verdict
from sidecheck_server.rpc.facts import Tally

__all__ = ["Batch"]


class Batch:
    """One batch under way."""

    def __init__(self, items: int, limits: Limits) -> None:
        #: What the log says of it.
        self.tally = Tally(items)
        self._limit = self._long = limits.long_items
        self._violations = limits.batch_violations
        self._length = limits.verdict_length
        self._repairs = self._message = limits.message_bytes

    def take_long(self) -> None:
        """Count an item that needs a worker.

        Raises:
            Refusal: LIMIT_EXCEEDED if there were too many.
        """
        if not self._long:
            raise exceeded("long_items", self._limit, "items that take long to judge")
        self._long -= 1

    def lowered(self, how: Judging) -> Judging:
        """Return *how* with no more violations than may still be told."""
        if how.max_violations <= self._violations and how.max_length <= self._length:
            return how
        return replace(
            how,
            max_violations=max(1, min(how.max_violations, self._violations)),
            max_length=self._length,
            explains=how.explains and self._length > 0,
        )

    def lowered_check(self, how: How) -> How:
        """Return *how* with no more violations than may still be told."""
        if how.most <= self._violations and how.longest <= self._length:
            return how
        most = max(1, min(how.most, self._violations))
        return replace(how, most=most, longest=self._length)

    def tell(self, verdict: Verdict) -> None:
        """Count the violations of *verdict*, and what its repair holds.

        Raises:
            Refusal: LIMIT_EXCEEDED if the repairs of the batch are too large together.
        """
        self._violations = max(0, self._violations - len(verdict.violations))
        self._length = max(0, self._length - sum(found.length for found in verdict.violations))
        if verdict.repair is not None:
            self._repairs -= verdict.repair.length
            if self._repairs < 0:
                raise exceeded("message_bytes", self._message, "the repaired payloads of the batch")
