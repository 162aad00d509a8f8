"""Processes for work that holds the interpreter and cannot be interrupted in it.

They are spawned, never forked, and before gRPC starts. One that dies or takes too
long is replaced, and costs only the request that it worked for. So is the whole pool
when it no longer works: pebble's gives up for good if a worker dies that has nothing
to do, and stands still if one dies while it holds the lock of their common pipe.
"""

import asyncio
import multiprocessing
import resource
import signal
from collections.abc import Iterator
from concurrent.futures import TimeoutError as TookTooLong
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker

from pebble import ProcessExpired, ProcessPool

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.compilation import Artifact, compile_source
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["Workers"]

_MEMORY_BYTES = 1 << 30
"""The address space of a worker. A schema within the limits needs a tenth of it."""

_SECONDS = 5.0
"""How long one compilation may take. The slowest of the known real schemas needs 0.04."""

_AHEAD = 2
"""How many schemas the pool is given for each worker, so that none waits for the next."""

_STUCK_SECONDS = 30.0
"""How long the pool may take for them, its new workers' start included."""


class Workers:
    """A pool of processes that compile schemas."""

    def __init__(self, count: int, limits: Limits) -> None:
        self._count = count
        self._limits = limits
        self._turns = asyncio.Semaphore(count * _AHEAD)
        self._pool = _started(count)

    async def start(self) -> None:
        """Return when a worker is ready."""
        await self.compile(SchemaSource(b"true"))

    async def compile(self, source: SchemaSource) -> Artifact:
        """Compile *source* in a worker.

        Raises:
            Refusal: as `compile_source`; COMPILATION_FAILED if the worker died or took
                too long, which says nothing about the schema for certain.
        """
        async with self._turns:
            outcome = await self._outcome(source)
        if isinstance(outcome, Refusal):
            raise outcome
        return outcome

    async def _outcome(self, source: SchemaSource) -> Artifact | Refusal:
        if not self._pool.active:
            await self._replace(self._pool)
        pool = self._pool
        deadline = asyncio.timeout(_STUCK_SECONDS)
        try:
            async with deadline:
                task = pool.schedule(_compile, args=(source, self._limits), timeout=_SECONDS)
                outcome: Artifact | Refusal = await asyncio.wrap_future(task)
        except (BrokenProcessPool, ProcessExpired, TookTooLong, MemoryError):
            if deadline.expired():
                await self._replace(pool)
            return Refusal(
                Reason.COMPILATION_FAILED,
                f"compiling the schema took more than {_SECONDS:.0f} seconds or too much memory, "
                "or its worker was killed",
            )
        return outcome

    async def _replace(self, pool: ProcessPool) -> None:
        if pool is self._pool:
            self._pool = _started(self._count)
            await asyncio.to_thread(_stop, pool)

    def close(self) -> None:
        """Stop all workers at once."""
        _stop(self._pool)


def _started(count: int) -> ProcessPool:
    pool = ProcessPool(
        max_workers=count,
        initializer=_prepare,
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


def _prepare() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


def _compile(source: SchemaSource, limits: Limits) -> Artifact | Refusal:
    try:
        return compile_source(source, limits)
    except Refusal as refusal:
        return refusal
