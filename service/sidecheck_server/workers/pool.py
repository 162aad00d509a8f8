"""The pool: processes that are spawned, never forked, and can be killed.

One that dies or takes too long is replaced, and costs only the work it was at. So is
the whole pool when it no longer works: pebble's gives up for good if a worker dies that
has nothing to do, and stands still if one dies while it holds the lock of their common
pipe.
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

__all__ = ["LostError", "Pool", "TookTooLongError"]

_Result = TypeVar("_Result")


class LostError(Exception):
    """The worker died, or the pool had to be replaced."""


class TookTooLongError(Exception):
    """The worker was killed, for it worked too long."""


class Pool:
    """*count* processes, each prepared by calling *prepare* with *argument*.

    A task may wait for a worker and be worked at for *stuck_seconds*, a new worker's start
    included; then the pool stands still, and is replaced.
    """

    def __init__(
        self, count: int, prepare: Callable[[int], None], argument: int, stuck_seconds: float
    ) -> None:
        self._stuck_seconds = stuck_seconds
        self._count = count
        self._prepare = prepare
        self._argument = argument
        self._pool = self._started()

    async def run(
        self, seconds: float, function: Callable[..., _Result], *arguments: object
    ) -> _Result:
        """Return what *function* returns in a worker.

        Raises:
            LostError: the worker died.
            TookTooLongError: it worked for more than *seconds*.
            MemoryError: it needed more memory than it may have.
        """
        if not self._pool.active:
            await self._replace(self._pool)
        pool = self._pool
        deadline = asyncio.timeout(self._stuck_seconds)
        try:
            async with deadline:
                task = pool.schedule(function, args=arguments, timeout=seconds)
                outcome: _Result = await asyncio.wrap_future(task)
        except (BrokenProcessPool, ProcessExpired):
            raise LostError from None
        except PebbleTimeout:
            if not deadline.expired():
                raise TookTooLongError from None
            await self._replace(pool)
            raise LostError from None
        return outcome

    def close(self) -> None:
        """Stop all workers at once."""
        _stop(self._pool)

    async def _replace(self, pool: ProcessPool) -> None:
        if pool is self._pool:
            self._pool = self._started()
            await asyncio.to_thread(_stop, pool)

    def _started(self) -> ProcessPool:
        pool = ProcessPool(
            max_workers=self._count,
            initializer=self._prepare,
            initargs=[self._argument],
            context=multiprocessing.get_context("spawn"),
        )
        with _no_interrupt():
            if not pool.active:  # asking starts it
                raise RuntimeError("the workers cannot be started")
        return pool


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Keep SIGINT from the threads and processes that are started meanwhile.

    A Ctrl-C at the terminal reaches all of us, and the server decides when to stop.
    """
    resource_tracker.ensure_running()  # when it starts, it lets SIGINT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop(pool: ProcessPool) -> None:
    pool.stop()
    pool.join()
