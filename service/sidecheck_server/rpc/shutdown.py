"""Shutdown of a server: in order, within its time, and sooner if that is asked for."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import structlog

from sidecheck_server.config.settings import Settings
from sidecheck_server.rpc.servicers import ServedMethods

__all__ = ["HURRIED_GRACE_SECONDS", "Shutdown"]

HURRIED_GRACE_SECONDS = 1.0
"""The grace period, at most, after the stop was hurried."""

_ANSWER_SECONDS = 0.25
"""How long the calls that are ended may take to send their status."""

_CANCEL_SECONDS = 0.25
"""How long the transport may take to end the calls that it cancels."""

_Step: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_log = structlog.get_logger("sidecheck.server")


class Shutdown:
    """Ends the calls of *served*: drains, waits for those that are active, and ends them."""

    def __init__(self, settings: Settings, served: ServedMethods) -> None:
        self._settings = settings
        self._served = served
        self._hurried = asyncio.Event()

    async def run(self, end_when_idle: _Step, cancel: _Step) -> bool:
        """Report that the server is not serving, let active calls finish, and end the others.

        Calls that the transport still takes after the drain period, and those that are active
        at the end of the grace period, fail with UNAVAILABLE, and clients retry them elsewhere.
        *end_when_idle* lets the transport take no more calls before it awaits anything, and
        ends it once its calls have ended; *cancel* ends it at once.
        Returns whether neither did in time: gRPC waits for peers that neither read nor close
        their connections for as long as they like.
        """
        served, settings = self._served, self._settings
        gate = served.admission.gate
        _log.info("server.draining")
        served.health.set_serving(serving=False)
        await self._wait_unless_hurried(settings.drain_seconds)
        grace_ends = time.monotonic() + settings.grace_seconds
        await gate.pause()
        # The gate ends the calls, because gRPC would cancel them.
        stopping = asyncio.create_task(self._end(end_when_idle))
        await asyncio.sleep(0)  # until the transport has told its clients
        # The end of a call or a stream is a reason for the next one, which must not cross that.
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
        """Let `run` skip what is left of the drain period, and shorten the grace period."""
        self._hurried.set()

    async def _end(self, end_when_idle: _Step) -> None:
        await end_when_idle()
        # Those of other transports.
        await self._served.admission.gate.drain()

    async def _wait_unless_hurried(
        self, seconds: float, task: asyncio.Task[None] | None = None
    ) -> None:
        """Wait for *seconds*, or until *task* is done; not for long once the stop is hurried."""
        hurried = asyncio.create_task(self._hurried.wait())
        tasks = {hurried} if task is None else {hurried, task}
        await asyncio.wait(tasks, timeout=max(seconds, 0), return_when=asyncio.FIRST_COMPLETED)
        if hurried.done() and task is not None:
            await asyncio.wait({task}, timeout=min(max(seconds, 0), HURRIED_GRACE_SECONDS))
        hurried.cancel()
