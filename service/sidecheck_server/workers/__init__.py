"""Worker processes, for work that blocks the interpreter or can only be ended by killing it."""

from sidecheck_server.workers.events import (
    EndCause,
    WorkerDied,
    WorkerEvent,
    WorkerRestarted,
    WorkerStartError,
    WorkerStartFailed,
)
from sidecheck_server.workers.workers import CALLER, Workers

__all__ = [
    "CALLER",
    "EndCause",
    "WorkerDied",
    "WorkerEvent",
    "WorkerRestarted",
    "WorkerStartError",
    "WorkerStartFailed",
    "Workers",
]
