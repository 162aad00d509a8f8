"""A serving process, as the first process sees it."""

import asyncio
import os
import pickle
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from prometheus_client import Metric

from sidecheck_server.config.settings import Settings
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding, Change
from sidecheck_server.server.processes.link import Link, LinkClosed
from sidecheck_server.workers.events import exit_text
from sidecheck_server.workers.process import processor_seconds

__all__ = [
    "BEAT_SECONDS",
    "MODULE",
    "Heartbeat",
    "ProcessStartError",
    "ServingProcess",
    "Setup",
    "StallCause",
]

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


MODULE = "sidecheck_server.server.serving"
"""What a serving process runs, with the descriptor of the link and the name of the event loop."""

_START_SECONDS = 60.0
"""How long a process may take to start; it takes about two seconds of a processor."""

_EVERYTHING = 1 << 62

_STOP_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class ProcessStartError(Exception):
    """A serving process cannot start; the message says why."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a serving process needs to know."""

    #: From 1.
    number: int
    settings: Settings
    #: The registry.
    revision: int
    change_id: UUID
    bindings: tuple[Binding, ...]
    #: The changes that are kept; those since the last of them follow.
    history: tuple[Change, ...]
    #: How many workers can run tasks.
    workers_alive: int


class ServingProcess:
    """A process that serves calls, and offers *handlers* to it.

    It begins with what *registry* has, and follows by the changes that are published.
    """

    def __init__(self, number: int, process: Process, link: Link) -> None:
        self.number = number
        self._process = process
        self._link = link
        #: The changes since the registry was copied, until that is sent.
        self._backlog: list[Change] | None = []
        self._heartbeat = Heartbeat(self._beat, partial(processor_seconds, process.pid))
        #: Why the process was killed, though it had not ended.
        self.stall: StallCause | None = None

    @classmethod
    async def spawn(
        cls, number: int, event_loop: str, handlers: Mapping[str, Callable[..., Any]]
    ) -> Self:
        """Start a process, which waits for `serve` in an *event_loop* of that name.

        Raises:
            ProcessStartError: the system has no room for another process.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                with _blocked_signals():
                    process = await asyncio.create_subprocess_exec(
                        # Modules come from where this process has them, not from its folder.
                        *(sys.executable, "-P", "-m", MODULE, str(theirs.fileno()), event_loop),
                        env={**os.environ, "PYTHONPATH": _module_path()},
                        stdin=DEVNULL,
                        pass_fds=[theirs.fileno()],
                    )
            except OSError as error:
                ours.close()
                raise ProcessStartError(error.strerror or "the system refuses it") from None
        return cls(number, process, await Link.open(ours, handlers))

    async def serve(
        self,
        settings: Settings,
        registry: Registry,
        history: tuple[Change, ...],
        workers_alive: Callable[[], int],
    ) -> None:
        """Let the process serve calls; return once it accepts them.

        The *history* is that of *registry*, and no older than this object.

        Raises:
            ProcessStartError: it cannot, or takes too long.
        """
        try:
            async with asyncio.timeout(_START_SECONDS):
                text = await asyncio.to_thread(
                    self._setup, settings, registry, history, workers_alive()
                )
                serving = self._link.call("serve", text)
                backlog, self._backlog = self._backlog or [], None
                for change in backlog:
                    self._link.tell("apply", change)
                self.report_workers(workers_alive())
                await serving
        except LinkClosed:
            ended = exit_text(await self._process.wait())
            raise ProcessStartError(f"it ended with {ended}") from None
        except TimeoutError:
            fault = f"it was not ready after {_START_SECONDS:.0f} seconds"
            raise ProcessStartError(fault) from None

    def publish(self, change: Change) -> "asyncio.Future[None] | None":
        """Send *change*; the future is done when the process has applied it, or has ended.

        None if the process does not serve yet.
        """
        if self._backlog is None:
            return self._link.call("apply", change)
        self._backlog.append(change)
        return None

    def report_workers(self, alive: int) -> None:
        """Tell the process how many workers can run tasks."""
        self._link.tell("report_workers", alive)

    def stop(self) -> None:
        """Ask the process to stop as the settings say."""
        self._link.tell("stop")

    def hurry(self) -> None:
        """Ask the process to stop sooner."""
        self._link.tell("hurry")

    async def collect(self) -> list[Metric]:
        """Return the metrics of the process; none if it has ended."""
        try:
            metrics: list[Metric] = await self._link.call("collect")
        except LinkClosed:
            return []
        return metrics

    def look(self, *, anew: bool) -> None:
        """Kill the process if it stands still; *anew* forgets how it was until now."""
        if anew:
            self._heartbeat.begin_anew()
        elif self._process.returncode is None and (stall := self._heartbeat.look()):
            self.stall = stall
            self._process.kill()

    async def wait(self) -> str:
        """Return how the process ended, once it has."""
        await asyncio.shield(self._link.closed)
        return exit_text(await self._process.wait())

    async def kill(self) -> None:
        """End the process at once, if it has not ended."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await self._link.close()

    def _beat(self) -> "asyncio.Future[None]":
        answer = self._link.call("beat")
        # It fails if the process ends, which `wait` tells.
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        return answer

    def _setup(
        self,
        settings: Settings,
        registry: Registry,
        history: tuple[Change, ...],
        workers_alive: int,
    ) -> bytes:
        # Changes that come in between are in the backlog as well.
        change_id, revision = registry.change_id, registry.revision
        bindings, _ = registry.page(None, None, _EVERYTHING, _EVERYTHING)
        setup = Setup(self.number, settings, revision, change_id, bindings, history, workers_alive)
        return pickle.dumps(setup, pickle.HIGHEST_PROTOCOL)


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Block the signals for a stop in the processes that this thread starts meanwhile.

    A supervisor, or a terminal, signals all processes; the first decides when they stop.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _module_path() -> str:
    """Return the folders in which modules are looked for, as PYTHONPATH has them."""
    return os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
