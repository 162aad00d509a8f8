"""Log events of worker processes."""

import structlog

from sidecheck_server.workers.events import (
    WorkerDied,
    WorkerEvent,
    WorkerRestarted,
    WorkerStartFailed,
)

__all__ = ["log_worker_event"]

_log = structlog.get_logger("sidecheck.service")


def log_worker_event(event: WorkerEvent) -> None:
    """Log *event*."""
    match event:
        case WorkerDied(cause, exit_, idle, alive):
            _log.warning("worker.died", cause=cause, exit=exit_, idle=idle, alive=alive)
        case WorkerRestarted(alive):
            _log.info("worker.restarted", alive=alive)
        case WorkerStartFailed(cause, detail, seconds, alive):
            _log.error(
                "worker.start_failed",
                cause=cause,
                detail=detail,
                retry_seconds=seconds,
                alive=alive,
            )
