"""The workers: they compile schemas, and judge what takes longer than a moment."""

from collections.abc import Callable
from typing import TypeVar

from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.judge import Judging
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.compilation import Artifact
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.words import Verdict
from sidecheck_server.workers.pool import LostError, Pool, TookTooLongError
from sidecheck_server.workers.tasks import compile_here, judge_here, prepare
from sidecheck_server.workers.turns import Turns

__all__ = ["Workers"]

_Answer = TypeVar("_Answer")

_AHEAD = 2
"""How many tasks the pool is given for each worker, so that none waits for the next."""


class Workers:
    """Processes that can be killed and whose memory is limited."""

    def __init__(self, count: int, limits: Limits) -> None:
        self._limits = limits
        self._turns = Turns(count * _AHEAD, each=count)
        self._pool = Pool(count, prepare, limits.worker_bytes)

    async def start(self) -> None:
        """Return when a worker is ready."""
        await self.compile(SchemaSource(b"true"))

    async def compile(
        self, source: SchemaSource, begun: Callable[[], None] = lambda: None
    ) -> Artifact:
        """Compile *source* in a worker; call *begun* when its turn has come.

        Raises:
            Refusal: as `compile_source`; LIMIT_EXCEEDED if it took too long or too much
                memory; WORKER_LOST if the worker died.
        """
        what, bound = "compiling the schema", "compile_seconds"
        return await self._run(what, bound, begun, compile_here, source, self._limits)

    async def judge(self, compiled: CompiledSchema, payload: bytes, how: Judging) -> Verdict:
        """Judge *payload* in a worker.

        Raises:
            Refusal: as `judge`; LIMIT_EXCEEDED if it took too long or too much memory;
                WORKER_LOST if the worker died.
        """
        return await self._run(
            *("judging the payload", "judgement_seconds", lambda: None, judge_here),
            *(compiled.source, compiled.artifact, self._limits, payload, how),
        )

    async def _run(
        self,
        what: str,
        bound: str,
        begun: Callable[[], None],
        function: Callable[..., _Answer | Refusal],
        *arguments: object,
    ) -> _Answer:
        seconds: int = getattr(self._limits, bound)
        async with self._turns.one():
            begun()
            try:
                answer = await self._pool.run(seconds, function, *arguments)
            except TookTooLongError:
                answer = exceeded(bound, seconds, f"{what} takes too many seconds")
            except MemoryError:
                limit = self._limits.worker_bytes
                answer = exceeded("worker_bytes", limit, f"{what} takes too much memory")
            except LostError:
                said = f"the worker process that was {what} died; trying again may succeed"
                answer = Refusal(Reason.WORKER_LOST, said)
        if isinstance(answer, Refusal):
            raise answer
        return answer

    def close(self) -> None:
        """Stop all workers at once."""
        self._pool.close()
