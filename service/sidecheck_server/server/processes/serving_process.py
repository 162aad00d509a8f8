"""Handle of a serving process in the first process."""

import asyncio
import pickle
import socket
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Self
from uuid import UUID

from prometheus_client import Metric

from sidecheck_server.config.settings import Settings
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding, Change
from sidecheck_server.server.processes.launcher import Launcher, ProcessStartError
from sidecheck_server.server.processes.link import Link, LinkClosed
from sidecheck_server.workers.events import exit_text
from sidecheck_server.workers.operating_system import processor_seconds

__all__ = [
    "BEAT_SECONDS",
    "Heartbeat",
    "ServingProcess",
    "Setup",
    "StallCause",
]

BEAT_SECONDS = 2.0
"""Seconds between two checks of a process."""

_MAX_IDLE_CHECKS = 3
_MAX_UNANSWERED_CHECKS = 10 * _MAX_IDLE_CHECKS


class StallCause(StrEnum):
    """Reason to replace a process that has not ended."""

    STOPPED = "stopped"
    """It neither answered nor used processor time in the last three checks."""
    BLOCKED = "blocked"
    """It used processor time, but its event loop did not answer in the last 30 checks."""


class Heartbeat:
    """Sends a beat to a process at each check, unless the last one is unanswered.

    *beat* returns a future of the answer, and *processor_seconds* the processor time of the
    process. Stalls are measured in checks rather than seconds, so that the time in which the
    checking process itself does not run is not counted.
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
        self.reset()

    def reset(self) -> None:
        """Start to count checks at zero."""
        self._idle_checks = self._unanswered_checks = 0

    def check(self) -> StallCause | None:
        """Return the reason to replace the process, or None."""
        used, before = self._processor_seconds(), self._used
        self._used = used
        if self._answer is None or self._answer.done():
            self.reset()
            self._answer = self._beat()
            return None
        self._unanswered_checks += 1
        self._idle_checks = self._idle_checks + 1 if used == before else 0
        if self._idle_checks == _MAX_IDLE_CHECKS:
            return StallCause.STOPPED
        return StallCause.BLOCKED if self._unanswered_checks == _MAX_UNANSWERED_CHECKS else None


_START_SECONDS = 60.0
"""Maximum seconds for the start of a process, which uses about two seconds of a processor."""

_UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class Setup:
    """Initial state of a serving process."""

    #: Number of the process, from 1.
    number: int
    settings: Settings
    #: Content of the registry.
    revision: int
    change_id: UUID
    bindings: tuple[Binding, ...]
    #: The change log; later changes are sent separately.
    history: tuple[Change, ...]
    #: Number of workers that can run tasks.
    workers_alive: int


class ServingProcess:
    """A process that serves calls, with a copy of the registry that `publish` updates."""

    def __init__(self, number: int, process: Process, launcher: Launcher, link: Link) -> None:
        self.number = number
        self._process = process
        self._launcher = launcher
        self._link = link
        #: Changes during the start, until the copy of the registry is sent; then None.
        self._backlog: list[Change] | None = []
        self._heartbeat = Heartbeat(self._beat, partial(processor_seconds, process.pid))
        #: Why `check` killed the process, or None.
        self.stall: StallCause | None = None

    @classmethod
    async def spawn(
        cls,
        number: int,
        settings: Settings,
        launcher: Launcher,
        handlers: Mapping[str, Callable[..., Any]],
    ) -> Self:
        """Start a process by *launcher*, which waits for `serve`.

        The process may call *handlers*.

        Raises:
            ProcessStartError: the system cannot start another process.
        """
        near_end, far_end = socket.socketpair()
        with far_end:
            try:
                process = await launcher.launch(number, settings, far_end.fileno())
            except OSError as error:
                near_end.close()
                raise ProcessStartError(error.strerror or "the system refuses it") from None
        return cls(number, process, launcher, await Link.open(near_end, handlers))

    async def serve(
        self,
        settings: Settings,
        registry: Registry,
        history: tuple[Change, ...],
        workers_alive: Callable[[], int],
    ) -> None:
        """Send the registry to the process, and return when it accepts calls.

        *history* is the change log of *registry*, read after this object was created.

        Raises:
            ProcessStartError: the process ends, fails or takes too long.
        """
        try:
            async with asyncio.timeout(_START_SECONDS):
                text = await asyncio.to_thread(
                    self._setup, settings, registry, history, workers_alive()
                )
                serving = self._link.call("serve", text)
                backlog, self._backlog = self._backlog or [], None
                for change in backlog:
                    self._link.notify("apply", change)
                self.report_workers(workers_alive())
                await serving
                await self._launcher.wait_until_serving(self.number)
        except LinkClosed:
            exit_status = exit_text(await self._process.wait())
            fault = await self._launcher.start_fault(self.number)
            raise ProcessStartError(fault or f"it ended with {exit_status}") from None
        except TimeoutError:
            fault = f"it was not ready after {_START_SECONDS:.0f} seconds"
            raise ProcessStartError(fault) from None

    def publish(self, change: Change) -> "asyncio.Future[None] | None":
        """Send *change*; the returned future is done when the process applied it.

        Returns None if the process does not serve yet.
        """
        if self._backlog is None:
            return self._link.call("apply", change)
        self._backlog.append(change)
        return None

    def report_workers(self, alive: int) -> None:
        """Send the number of workers that can run tasks."""
        self._link.notify("report_workers", alive)

    def stop(self) -> None:
        """Request a stop within the periods of the settings."""
        self._link.notify("stop")

    def hurry(self) -> None:
        """Request that a stop ends sooner."""
        self._link.notify("hurry")

    async def collect(self) -> list[Metric]:
        """Return the metrics of the process, or an empty list if it has ended."""
        try:
            metrics: list[Metric] = await self._link.call("collect")
        except LinkClosed:
            return []
        return metrics

    def check(self, *, reset: bool) -> None:
        """Kill the process if it has stalled; *reset* discards earlier checks instead."""
        if reset:
            self._heartbeat.reset()
        elif self._process.returncode is None and (stall := self._heartbeat.check()):
            self.stall = stall
            self._process.kill()

    async def wait(self) -> str:
        """Wait for the end of the process, and return a description of its exit status."""
        await asyncio.shield(self._link.closed)
        return exit_text(await self._process.wait())

    async def kill(self) -> None:
        """Kill the process if it still runs, and close the link."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await self._link.close()

    def _beat(self) -> "asyncio.Future[None]":
        answer = self._link.call("beat")
        # Mark the exception as retrieved: it fails if the process ends, which `wait` reports.
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        return answer

    def _setup(
        self,
        settings: Settings,
        registry: Registry,
        history: tuple[Change, ...],
        workers_alive: int,
    ) -> bytes:
        # Changes that are made during the copy are in the backlog as well.
        change_id, revision = registry.change_id, registry.revision
        bindings, _ = registry.page(None, None, _UNLIMITED, _UNLIMITED)
        setup = Setup(self.number, settings, revision, change_id, bindings, history, workers_alive)
        return pickle.dumps(setup, pickle.HIGHEST_PROTOCOL)
