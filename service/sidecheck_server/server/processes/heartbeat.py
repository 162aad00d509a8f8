"""Heartbeat of a serving process: tells one that stands still from one that is starved."""

import asyncio
from collections.abc import Callable
from enum import StrEnum

__all__ = ["BEAT_SECONDS", "Heartbeat", "StallCause"]

BEAT_SECONDS = 2.0
"""Time between two looks at a process."""

_STILL_LOOKS = 3
_UNANSWERED_LOOKS = 10 * _STILL_LOOKS


class StallCause(StrEnum):
    """Why a process that has not ended is replaced."""

    STOPPED = "stopped"
    """It has neither answered nor taken anything of a processor in the last three looks."""
    BLOCKED = "blocked"
    """Its event loop has not answered in ten times as many, though it took of a processor."""


class Heartbeat:
    """Asks a process for an answer at each look, unless it still owes one.

    *beat* returns a future of the answer, and *processor_seconds* what the process has taken of
    a processor. Looks are counted and not timed, so that no time counts in which the process
    that looks does not run itself.
    """

    def __init__(
        self,
        beat: Callable[[], "asyncio.Future[None]"],
        processor_seconds: Callable[[], float],
    ) -> None:
        self._beat = beat
        self._processor_seconds = processor_seconds
        self._used = 0.0
        self._answer: asyncio.Future[None] | None = None
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget the looks so far."""
        self._still = self._unanswered = 0

    def look(self) -> StallCause | None:
        """Return why the process is to be replaced, or None if it is not."""
        used, before = self._processor_seconds(), self._used
        self._used = used
        if self._answer is None or self._answer.done():
            self.begin_anew()
            self._answer = self._beat()
            return None
        self._unanswered += 1
        self._still = self._still + 1 if used == before else 0
        if self._still == _STILL_LOOKS:
            return StallCause.STOPPED
        return StallCause.BLOCKED if self._unanswered == _UNANSWERED_LOOKS else None
