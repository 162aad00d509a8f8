"""Limits, clocks and signals of worker processes, by operating system.

Windows has no timers that end a process, so the parent watches the processor time of a task
there, and the memory of a worker is not limited.
"""
# What differs by operating system stands in files of this name only.

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

__all__ = [
    "ORPHANED",
    "OUT_OF_TIME",
    "OutOfTimeError",
    "blocked_stop_signals",
    "limited_task",
    "prepare_process",
    "processor_seconds",
    "resident_bytes",
    "wait_for_answer",
    "watch_end",
]


class Pipe(Protocol):
    """The part of a connection of `multiprocessing` that both systems have."""

    def poll(self, timeout: float) -> bool:
        """Return whether there is data, after *timeout* seconds at most."""
        ...


class OutOfTimeError(Exception):
    """A task exceeded its limit of processor time, and its process is still running."""


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes
    from multiprocessing import connection

    OUT_OF_TIME = 101
    """Exit code that stands for the limit of processor time, which the parent enforces."""

    ORPHANED = 102
    """Exit code of an alarm, which Windows does not have."""

    _POLL_SECONDS = 0.1
    """Pause between two looks at the processor time of a task."""

    _IDLE_POLL_SECONDS = 1.0
    """Pause between two looks at an idle process. Event loops cannot watch its handle."""

    _QUERY_LIMITED_INFORMATION = 0x1000
    _BELOW_NORMAL_PRIORITY = 0x4000
    """From ``processthreadsapi.h``, as the functions below."""

    _TICKS = 10_000_000
    """Units of a ``FILETIME`` in a second."""

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.GetCurrentProcess.restype = wintypes.HANDLE
    _kernel.SetPriorityClass.argtypes = [wintypes.HANDLE, wintypes.DWORD]
    _kernel.OpenProcess.argtypes = [wintypes.DWORD, wintypes.BOOL, wintypes.DWORD]
    _kernel.OpenProcess.restype = wintypes.HANDLE
    _kernel.CloseHandle.argtypes = [wintypes.HANDLE]
    _kernel.GetProcessTimes.argtypes = [wintypes.HANDLE, *[ctypes.POINTER(ctypes.c_uint64)] * 4]

    def prepare_process(memory: int) -> None:  # noqa: ARG001  (a limit that Windows lacks)
        """Lower the priority, and ignore Ctrl-C, which reaches all processes of a console."""
        _kernel.SetPriorityClass(_kernel.GetCurrentProcess(), _BELOW_NORMAL_PRIORITY)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def processor_seconds(process_id: int) -> float:
        """Return the processor time of a process, in seconds; 0 if unknown."""
        handle = _kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, process_id)  # noqa: FBT003
        if not handle:
            return 0.0
        try:
            times = [ctypes.c_uint64() for _ in range(4)]
            is_known = _kernel.GetProcessTimes(handle, *map(ctypes.byref, times))
        finally:
            _kernel.CloseHandle(handle)
        _created, _ended, kernel, user = (time.value for time in times)
        return (kernel + user) / _TICKS if is_known else 0.0

    def resident_bytes(process_id: int) -> int:  # noqa: ARG001  (of the other system)
        """Return 0: the resident memory of a process is unknown."""
        return 0

    @contextmanager
    def blocked_stop_signals() -> Iterator[None]:
        """Do nothing: a process ignores Ctrl-C once it is prepared."""
        yield

    @contextmanager
    def limited_task(seconds: float, orphan_seconds: int) -> Iterator[None]:  # noqa: ARG001
        """Do nothing: the parent enforces the limit, in `wait_for_answer`."""
        yield

    def wait_for_answer(pipe: Pipe, process_id: int, seconds: float) -> None:
        """Wait until *pipe* has an answer, for *seconds* of processor time at most.

        Raises:
            OutOfTimeError: the process has used more.
            OSError: the process has ended.
        """
        limit = processor_seconds(process_id) + seconds
        while not pipe.poll(_POLL_SECONDS):
            if processor_seconds(process_id) > limit:
                raise OutOfTimeError

    def watch_end(
        loop: asyncio.AbstractEventLoop, sentinel: int, callback: Callable[[], None]
    ) -> Callable[[], None]:
        """Call *callback* when the process of *sentinel* has ended; return what stops that."""
        timer: asyncio.TimerHandle

        def look() -> None:
            nonlocal timer
            if connection.wait([sentinel], 0):
                callback()
            else:
                timer = loop.call_later(_IDLE_POLL_SECONDS, look)

        def stop() -> None:
            timer.cancel()

        timer = loop.call_later(_IDLE_POLL_SECONDS, look)
        return stop

else:
    import os
    import resource
    import time
    from multiprocessing import resource_tracker

    OUT_OF_TIME = -signal.SIGPROF
    """Exit code of a process whose task exceeded its limit of processor time."""

    ORPHANED = -signal.SIGALRM
    """Exit code of a process whose task made no progress after the server had died."""

    _NICENESS = 10
    """Lower priority of workers, since all calls depend on the event loop of the server."""

    def prepare_process(memory: int) -> None:
        """Limit the address space to *memory* bytes, and lower the priority."""
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = memory if hard == resource.RLIM_INFINITY else min(hard, memory)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        os.nice(_NICENESS)

    def processor_seconds(process_id: int) -> float:
        """Return the processor time of a process, in seconds; 0 if unknown."""
        # The clock id of clock_getcpuclockid(3), which Python provides only for threads.
        try:
            return time.clock_gettime(~process_id << 3 | 2)
        except OSError:
            return 0.0

    def resident_bytes(process_id: int) -> int:
        """Return the resident memory of a process, in bytes; 0 if unknown."""
        try:
            pages = int(Path(f"/proc/{process_id}/statm").read_text(encoding="ascii").split()[1])
        except (OSError, ValueError, IndexError):
            return 0
        return pages * resource.getpagesize()

    @contextmanager
    def blocked_stop_signals() -> Iterator[None]:
        """Block stop signals in processes that this thread starts within the context.

        A terminal or a supervisor signals all processes, but the server decides when workers
        stop: they finish the calls that it has accepted.
        """
        resource_tracker.ensure_running()  # starting it later would unblock the signals
        stop_signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @contextmanager
    def limited_task(seconds: float, orphan_seconds: int) -> Iterator[None]:
        """Let the system kill this process, even if no Python handler can run.

        It does so after *seconds* of processor time, which is independent of other load; and
        after *orphan_seconds*, in case the server has died.
        """
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(orphan_seconds)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)

    def wait_for_answer(pipe: Pipe, process_id: int, seconds: float) -> None:
        """Do nothing: the system enforces the limit, by `limited_task`."""

    def watch_end(
        loop: asyncio.AbstractEventLoop, sentinel: int, callback: Callable[[], None]
    ) -> Callable[[], None]:
        """Call *callback* when the process of *sentinel* has ended; return what stops that."""
        loop.add_reader(sentinel, callback)

        def stop() -> None:
            loop.remove_reader(sentinel)

        return stop
