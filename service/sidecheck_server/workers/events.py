"""Lifecycle events of worker processes, for logs and health."""

import signal
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from sidecheck_server.workers.operating_system import ORPHANED, OUT_OF_TIME
from sidecheck_server.workers.process import OUT_OF_MEMORY

__all__ = [
    "EndCause",
    "WorkerDied",
    "WorkerEvent",
    "WorkerRestarted",
    "WorkerStartError",
    "WorkerStartFailed",
    "crash_cause",
    "exit_text",
]


class EndCause(StrEnum):
    """Why a process ended or did not start."""

    CRASH = "crash"
    """It ended by itself, or another process killed it."""
    MEMORY = "memory"
    """Its memory limit was too small to start, or to receive a task."""
    SYSTEM = "system"
    """The system cannot start another process."""
    TIME = "time"
    """Its task exceeded its limit of processor time."""
    STALLED = "stalled"
    """It was killed because its start or its task made no progress for too long."""
    UNRESPONSIVE = "unresponsive"
    """It was killed because it did not receive its task within the time limit of the task."""


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """A process ended, with *exit* (see `exit_text`); *idle* if it had no task."""

    cause: EndCause
    exit: str
    idle: bool
    #: Number of processes that can run tasks after the event.
    alive: int


@dataclass(frozen=True, slots=True)
class WorkerRestarted:
    """A process is ready in place of one that died."""

    alive: int


@dataclass(frozen=True, slots=True)
class WorkerStartFailed:
    """A process could not be started; the next attempt follows after *retry_seconds*."""

    cause: EndCause
    detail: str
    retry_seconds: float
    alive: int


WorkerEvent: TypeAlias = WorkerDied | WorkerRestarted | WorkerStartFailed


class WorkerStartError(Exception):
    """No process can be started; *detail* describes a crash or an error of the system."""

    def __init__(self, cause: EndCause, detail: str) -> None:
        super().__init__(cause, detail)
        self.cause = cause
        self.detail = detail

    def __str__(self) -> str:
        reason = {
            EndCause.MEMORY: "limits.worker_bytes is too small",
            EndCause.STALLED: "it is not ready in time",
        }.get(self.cause, self.detail)
        return f"no worker process can start: {reason}"


def crash_cause(exit_code: int) -> EndCause:
    """Return the cause of a process end, unless the pool killed the process."""
    if exit_code == OUT_OF_MEMORY:
        return EndCause.MEMORY
    if exit_code == OUT_OF_TIME:
        return EndCause.TIME
    return EndCause.STALLED if exit_code == ORPHANED else EndCause.CRASH


def exit_text(exit_code: int) -> str:
    """Return *exit_code* in words: the name of a signal, or the code itself."""
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return signal.Signals(-exit_code).name
    except ValueError:  # a real-time signal
        return f"signal {-exit_code}"
