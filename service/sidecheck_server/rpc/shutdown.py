"""Shutdown of a server: its steps in order, within bounded time."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import structlog

from sidecheck_server.config.settings import Settings
from sidecheck_server.rpc.servicers import ServedMethods

__all__ = ["HURRIED_GRACE_SECONDS", "Shutdown"]

HURRIED_GRACE_SECONDS = 1.0
"""Maximum grace period after `Shutdown.hurry`."""

_ANSWER_SECONDS = 0.25
"""Maximum seconds for ended calls to send their status."""

_CANCEL_SECONDS = 0.25
"""Maximum seconds for the transport to end the calls that it cancels."""

_Step: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_log = structlog.get_logger("sidecheck.server")


# Decision 0051: every step has a bound, since gRPC waits for stalled peers without end.
class Shutdown:
    """Ends the calls of *served*: drains, waits, and ends the remaining ones."""

    def __init__(self, settings: Settings, served: ServedMethods) -> None:
        self._settings = settings
        self._served = served
        self._hurried = asyncio.Event()

    async def run(self, end_when_idle: _Step, cancel: _Step) -> bool:
        """Stop serving: let active calls finish, and end the others.

        Calls that arrive after the drain period, and calls that are active at the end of the
        grace period, fail with UNAVAILABLE, so that clients retry them on another server.
        *end_when_idle* makes the transport reject calls before its first await, and returns
        when all calls have ended; *cancel* ends the transport at once. Returns True if neither
        ended in time, since gRPC waits without end for peers that neither read nor close their
        connections.
        """
        served, settings = self._served, self._settings
        gate = served.admission.gate
        _log.info("server.draining")
        served.health.set_serving(serving=False)
        await self._wait_unless_hurried(settings.drain_seconds)
        grace_ends = time.monotonic() + settings.grace_seconds
        await gate.pause()
        # Not bounded here: gRPC would cancel calls, while the gate ends them with UNAVAILABLE.
        stopping = asyncio.create_task(self._end(end_when_idle))
        await asyncio.sleep(0)  # The transport notifies its clients in this turn.
        # Only now: a client whose call or stream ends starts the next one, which must not reach
        # the transport before that notification.
        gate.close()
        served.streams.end()
        served.health.end()
        await self._wait_unless_hurried(grace_ends - time.monotonic(), stopping)
        if not stopping.done():
            gate.end_calls()
            await asyncio.wait({stopping}, timeout=_ANSWER_SECONDS)
        if not stopping.done():
            cancelling = asyncio.create_task(cancel())
            await asyncio.wait({stopping, cancelling}, timeout=_CANCEL_SECONDS)
        served.admission.stop()
        if not stopping.done():
            _log.warning("server.abandoned")
            return True
        stopping.result()
        return False

    def hurry(self) -> None:
        """Make `run` skip the rest of the drain period, and shorten the grace period."""
        self._hurried.set()

    async def _end(self, end_when_idle: _Step) -> None:
        await end_when_idle()
        # Calls of other transports.
        await self._served.admission.gate.drain()

    async def _wait_unless_hurried(
        self, seconds: float, task: asyncio.Task[None] | None = None
    ) -> None:
        """Wait for *seconds* or until *task* is done; after `hurry`, for a second at most."""
        hurried = asyncio.create_task(self._hurried.wait())
        tasks = {hurried} if task is None else {hurried, task}
        await asyncio.wait(tasks, timeout=max(seconds, 0), return_when=asyncio.FIRST_COMPLETED)
        if hurried.done() and task is not None:
            await asyncio.wait({task}, timeout=min(max(seconds, 0), HURRIED_GRACE_SECONDS))
        hurried.cancel()
