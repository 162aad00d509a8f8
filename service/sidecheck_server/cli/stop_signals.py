"""Signals that stop the server, and the time within which the process ends."""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import NoReturn

__all__ = ["StopSignals", "end_process"]

_DUPLICATE_SECONDS = 0.01
"""A signal that follows the first so closely is the same request.

Supervisors such as timeout(1) signal a process and then its group, which it is part of.
"""


class StopSignals:
    """Handles SIGTERM, SIGINT and SIGHUP in the running event loop.

    The first signal asks for a stop. A second SIGTERM or SIGINT hurries it. The process
    is ended by force if it takes more than *most_seconds* after the first, or
    *hurried_seconds* after the second.
    """

    def __init__(
        self, most_seconds: float, hurried_seconds: float, end: Callable[[], NoReturn]
    ) -> None:
        """Install the handlers; *end* is called in a thread."""
        self._most_seconds = most_seconds
        self._hurried_seconds = hurried_seconds
        self._end = end
        self._first_signal_time = 0.0
        self._stopped = asyncio.Event()
        self._hurry: Callable[[], None] = _ignore
        self._is_hurried = False
        self._forced_end = threading.Timer(0, end)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop_or_hurry)
        # nohup ignores SIGHUP for the processes that are to outlive a terminal.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            loop.add_signal_handler(signal.SIGHUP, self._stop)

    async def wait(self) -> None:
        """Wait for the first signal."""
        await self._stopped.wait()

    def on_hurry(self, hurry: Callable[[], None]) -> None:
        """Call *hurry* when a second signal arrives."""
        self._hurry = hurry

    def _stop_or_hurry(self) -> None:
        if not self._stopped.is_set():
            self._stop()
            return
        waited = time.monotonic() - self._first_signal_time
        if waited > _DUPLICATE_SECONDS and not self._is_hurried:
            self._is_hurried = True
            self._hurry()
            self._end_within(min(self._hurried_seconds, self._most_seconds - waited))

    def _stop(self) -> None:
        if not self._stopped.is_set():
            self._first_signal_time = time.monotonic()
            self._stopped.set()
            self._end_within(self._most_seconds)

    def _end_within(self, seconds: float) -> None:
        self._forced_end.cancel()
        self._forced_end = threading.Timer(seconds, self._end)
        self._forced_end.daemon = True
        self._forced_end.start()


def _ignore() -> None:
    """Do nothing: the server is still starting."""


def end_process() -> NoReturn:
    """End the process and its workers at once, with exit code 0.

    Threads, connections and workers that do not end would hold up an orderly exit.
    """
    try:
        for worker in multiprocessing.active_children():
            worker.kill()
    finally:
        os._exit(0)
