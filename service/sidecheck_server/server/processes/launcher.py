"""Start of serving processes."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sidecheck_server.config.settings import Settings

__all__ = ["MODULE", "Launcher", "ProcessStartError", "PythonLauncher", "blocked_signals"]

MODULE = "sidecheck_server.server.serving"
"""Main module of a serving process; see there for its arguments."""


class ProcessStartError(Exception):
    """A serving process cannot start; the message has the cause."""


class Launcher(Protocol):
    """Starts the serving processes of a service."""

    async def launch(self, number: int, settings: Settings, descriptor: int) -> Process:
        """Start the process *number*, which inherits *descriptor*, its end of the link.

        Raises:
            OSError: the system cannot start another process.
        """
        ...

    async def wait_until_serving(self, number: int) -> None:
        """Wait until the process *number*, whose methods are ready, accepts connections."""
        ...

    async def start_fault(self, number: int) -> str:
        """Return why the process *number* has ended while it started, or "" if unknown."""
        ...

    async def close(self) -> None:
        """Release what the processes used, which have ended."""
        ...


class PythonLauncher:
    """Starts processes that serve by grpc.aio, on the event loop *event_loop*."""

    def __init__(self, event_loop: str) -> None:
        self._event_loop = event_loop

    async def launch(self, number: int, settings: Settings, descriptor: int) -> Process:  # noqa: ARG002
        """Start a process; see `Launcher`."""
        with blocked_signals():
            return await asyncio.create_subprocess_exec(
                # With -P and PYTHONPATH, modules are found where this process found them,
                # and not in the working directory.
                *(sys.executable, "-P", "-m", MODULE, str(descriptor), self._event_loop),
                env={**os.environ, "PYTHONPATH": _module_path()},
                stdin=DEVNULL,
                pass_fds=[descriptor],
            )

    async def wait_until_serving(self, number: int) -> None:
        """Return at once: a process reports its methods when it accepts connections."""

    async def start_fault(self, number: int) -> str:  # noqa: ARG002
        """Return "": a process writes its faults to the log."""
        return ""

    async def close(self) -> None:
        """Do nothing."""


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Block stop signals in the processes that this thread starts during the block.

    A supervisor or a terminal signals all processes, but the first process decides when the
    others stop.
    """
    # Not of the module, which the proxy imports on Windows too.
    stop_signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _module_path() -> str:
    """Return the module search path of this process, in the form of PYTHONPATH."""
    return os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
