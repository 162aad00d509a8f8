"""Lag of the event loop: how late it runs what is due."""

import asyncio

__all__ = ["LoopLag"]

_PERIOD_SECONDS = 0.05
_SMOOTHING = 0.3
"""The weight of the last measurement: a single long turn is not an overload."""


class LoopLag:
    """Measures how late the event loop wakes a task, smoothed over about ten periods."""

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
        now = asyncio.get_running_loop().time
        while True:
            due = now() + _PERIOD_SECONDS
            await asyncio.sleep(_PERIOD_SECONDS)
            self.seconds += _SMOOTHING * (max(0.0, now() - due) - self.seconds)
