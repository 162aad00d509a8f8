"""Worker processes, for work that holds the GIL or that only a kill can end."""
# Decision 0007: our own processes can be killed, have limited memory, and fail one task alone.

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
