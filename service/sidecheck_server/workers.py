"""Processes for work that holds the interpreter and cannot be interrupted in it.

They are spawned, never forked, and before gRPC starts. One that dies or takes too
long is replaced, and costs only the request that it worked for.
"""

import asyncio
import multiprocessing
import resource
import signal
from concurrent.futures import TimeoutError as TookTooLong

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


class Workers:
    """A pool of processes that compile schemas."""

    def __init__(self, count: int, limits: Limits) -> None:
        self._limits = limits
        self._pool = ProcessPool(
            max_workers=count,
            initializer=_prepare,
            context=multiprocessing.get_context("spawn"),
        )

    async def start(self) -> None:
        """Return when a worker is ready."""
        await self.compile(SchemaSource(b"true"))

    async def compile(self, source: SchemaSource) -> Artifact:
        """Compile *source* in a worker.

        Raises:
            Refusal: as `compile_source`; COMPILATION_FAILED if the worker died or took
                too long, which says nothing about the schema for certain.
        """
        task = self._pool.schedule(_compile, args=(source, self._limits), timeout=_SECONDS)
        try:
            outcome: Artifact | Refusal = await asyncio.wrap_future(task)
        except (ProcessExpired, TookTooLong, MemoryError):
            raise Refusal(
                Reason.COMPILATION_FAILED,
                f"compiling the schema took more than {_SECONDS:.0f} seconds or too much memory",
            ) from None
        if isinstance(outcome, Refusal):
            raise outcome
        return outcome

    def close(self) -> None:
        """Stop all workers at once."""
        self._pool.stop()
        self._pool.join()


def _prepare() -> None:
    # The server decides when to stop; a Ctrl-C at the terminal reaches all of us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def _compile(source: SchemaSource, limits: Limits) -> Artifact | Refusal:
    try:
        return compile_source(source, limits)
    except Refusal as refusal:
        return refusal
