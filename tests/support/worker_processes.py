"""Worker processes of a server, or of the test's process."""

from collections.abc import Iterable
from contextlib import suppress

import psutil

__all__ = ["kill", "worker_processes"]


def worker_processes(parent: int | None = None) -> list[psutil.Process]:
    """Return the worker processes of the process *parent*, by default of this process."""
    return [child for child in psutil.Process(parent).children() if _is_worker(child)]


def kill(workers: Iterable[psutil.Process]) -> None:
    """Kill *workers*, as the kernel does when memory runs out."""
    for worker in workers:
        with suppress(psutil.NoSuchProcess):
            worker.kill()


def _is_worker(child: psutil.Process) -> bool:
    try:
        return "--multiprocessing-fork" in child.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
