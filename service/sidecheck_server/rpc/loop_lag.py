"""Lag of the event loop: how late it runs what is due."""

import asyncio
import time
from collections import deque

__all__ = ["LoopLag"]

_PERIOD_SECONDS = 0.05
_PERIODS = 4


class LoopLag:
    """Measures how late the event loop wakes a task.

    The lag is the least of the last few measurements, the standing queue as in CoDel
    (RFC 8289, section 3): a single long turn is no overload. Nor is it one that the process
    was stopped, so a measurement is at most the time that the loop itself worked.
    """

    def __init__(self) -> None:
        #: In seconds.
        self.seconds = 0.0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Measure until `stop`."""
        self._task = asyncio.create_task(self._measure())

    def stop(self) -> None:
        """Stop measuring."""
        if self._task is not None:
            self._task.cancel()

    async def _measure(self) -> None:
        # Not the clock of the loop, which may be read once a turn.
        now = time.monotonic
        measured = deque([0.0], maxlen=_PERIODS)
        while True:
            due, worked = now() + _PERIOD_SECONDS, time.thread_time()
            await asyncio.sleep(_PERIOD_SECONDS)
            measured.append(max(0.0, min(now() - due, time.thread_time() - worked)))
            self.seconds = min(measured)
