"""Pool of processes that are spawned, never forked, and can be killed.

A process that dies or exceeds its time is replaced, and only its task is lost. The whole
pool is replaced when it no longer works: pebble's pool stops for good if an idle process
dies, and hangs if a process dies while it holds the lock of the shared pipe.
"""

import asyncio
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as PebbleTimeout
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import TypeVar

from pebble import ProcessExpired, ProcessPool

__all__ = ["Pool", "WorkerCrashedError", "WorkerTimeoutError"]

_Result = TypeVar("_Result")


class WorkerCrashedError(Exception):
    """The process died, or the pool had to be replaced."""


class WorkerTimeoutError(Exception):
    """The process was killed because the task exceeded its time."""


class Pool:
    """*count* processes, each prepared by calling *prepare* with *argument*.

    A task that waits and runs for more than *stuck_seconds*, the start of a process
    included, shows that the pool hangs; the pool is replaced.
    """

    def __init__(
        self, count: int, prepare: Callable[[int], None], argument: int, stuck_seconds: float
    ) -> None:
        self._stuck_seconds = stuck_seconds
        self._count = count
        self._prepare = prepare
        self._argument = argument
        self._pool = self._start_pool()

    async def run(
        self, seconds: float, function: Callable[..., _Result], *arguments: object
    ) -> _Result:
        """Return the result of calling *function* in a process.

        Raises:
            WorkerCrashedError: the process died.
            WorkerTimeoutError: the call took more than *seconds*.
            MemoryError: the call needed more memory than the process may use.
        """
        if not self._pool.active:
            await self._replace(self._pool)
        pool = self._pool
        deadline = asyncio.timeout(self._stuck_seconds)
        try:
            async with deadline:
                task = pool.schedule(function, args=arguments, timeout=seconds)
                result: _Result = await asyncio.wrap_future(task)
        except (BrokenProcessPool, ProcessExpired):
            raise WorkerCrashedError from None
        except PebbleTimeout:
            if not deadline.expired():
                raise WorkerTimeoutError from None
            await self._replace(pool)
            raise WorkerCrashedError from None
        return result

    def close(self) -> None:
        """Stop all processes at once."""
        _stop(self._pool)

    async def _replace(self, pool: ProcessPool) -> None:
        if pool is self._pool:
            self._pool = self._start_pool()
            await asyncio.to_thread(_stop, pool)

    def _start_pool(self) -> ProcessPool:
        pool = ProcessPool(
            max_workers=self._count,
            initializer=self._prepare,
            initargs=[self._argument],
            context=multiprocessing.get_context("spawn"),
        )
        with _block_interrupts():
            if not pool.active:  # reading the property starts it
                raise RuntimeError("the worker processes cannot be started")
        return pool


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Block SIGINT in the threads and processes that are started meanwhile.

    A Ctrl-C at the terminal reaches all processes; the server decides when they stop.
    """
    resource_tracker.ensure_running()  # starting it later would unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop(pool: ProcessPool) -> None:
    pool.stop()
    pool.join()
