"""Batches: what one has done, and what it may still do, so that it cannot multiply work."""

import time
from asyncio import sleep
from dataclasses import replace

from google.protobuf.message import Message

from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.types import RANK, Verdict, Violation
from sidecheck_server.rpc.access_log import OutcomeCounter

__all__ = ["TURN_SECONDS", "Batch", "Turn", "refuse_large_answer"]

TURN_SECONDS = 0.002
"""How long a batch works before other calls have their turn."""


def refuse_large_answer(answer: Message, limits: Limits) -> None:
    """Refuse to send an *answer* that is larger than what a client receives by default.

    Raises:
        Refusal: LIMIT_EXCEEDED.
    """
    size = answer.ByteSize()
    if size > limits.message_bytes:
        raise exceeded("message_bytes", limits.message_bytes, "the answer", size)


class Turn:
    """The time that a batch has for itself."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()

    async def over(self) -> None:
        """Let other calls have their turn if this one is over."""
        if time.perf_counter() - self._begun > TURN_SECONDS:
            await sleep(0)
            self._begun = time.perf_counter()


class Batch:
    """One batch under way."""

    def __init__(self, items: int, limits: Limits) -> None:
        #: What the log says of it.
        self.tally = OutcomeCounter(items)
        self._limit = self._long = limits.offloaded_items
        self._violations = limits.batch_violations
        self._length = limits.verdict_characters
        self._text = self._message = limits.message_bytes

    def take_long(self) -> None:
        """Count an item that needs a worker.

        Raises:
            Refusal: LIMIT_EXCEEDED if there were too many.
        """
        if not self._long:
            raise exceeded("offloaded_items", self._limit, "items that take long to judge")
        self._long -= 1

    def lowered(self, how: EvaluationOptions) -> EvaluationOptions:
        """Return *how* with no more violations than may still be told."""
        if how.max_violations <= self._violations and how.max_length <= self._length:
            return how
        return replace(
            how,
            max_violations=max(1, min(how.max_violations, self._violations)),
            max_length=self._length,
            explains=how.explains and self._length > 0,
        )

    def lowered_check(self, how: ReportLimits) -> ReportLimits:
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
            self.take_text(verdict.repair.length, "the repaired payloads of the batch")

    @property
    def has_room(self) -> bool:
        """Whether more may be told than what each verdict must tell."""
        return self._length > 0

    def take_room(self, length: int) -> None:
        """Count *length* characters that are told beside violations."""
        self._length = max(0, self._length - length)

    def cut(self, verdict: Verdict) -> Verdict:
        """Return *verdict* with no more violations than may still be told, the gravest."""
        found = verdict.violations
        length = sum(one.length for one in found)
        if len(found) > self._violations or length > self._length:
            verdict = self._shortened(found)
        self.tell(verdict)
        return verdict

    def _shortened(self, found: tuple[Violation, ...]) -> Verdict:
        kept: list[Violation] = []
        left = self._length
        for one in sorted(found, key=lambda one: RANK[one.severity]):
            left -= one.length
            if kept and (left < 0 or len(kept) >= self._violations):
                break
            kept.append(one)
        return Verdict.listing(kept, truncated=len(kept) < len(found))

    def take_text(self, length: int, what: str) -> None:
        """Count *length* characters more that the answer repeats of the request.

        Raises:
            Refusal: LIMIT_EXCEEDED if they are too many together.
        """
        self._text -= length
        if self._text < 0:
            raise exceeded("message_bytes", self._message, what)
