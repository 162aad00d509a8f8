"""The workers: they compile schemas, and do what takes longer than a moment."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TypeVar

from sidecheck_server.core.compiler.compilation import Artifact
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.workers.pool import LostError, Pool, TookTooLongError
from sidecheck_server.workers.tasks import (
    check_here,
    compile_here,
    convert_here,
    infer_here,
    judge_here,
    prepare,
)
from sidecheck_server.workers.turns import Turns

__all__ = ["Workers"]

_Answer = TypeVar("_Answer")

_START_SECONDS = 15.0
"""How long a worker may take to start, on a busy machine."""

_AHEAD = 2
"""How many tasks the pool is given for each worker, so that none waits for the next."""


def _do_nothing() -> None:
    """Do nothing when a task begins."""


class Workers:
    """Processes that can be killed and whose memory is limited."""

    def __init__(self, count: int, limits: Limits) -> None:
        self._limits = limits
        self._turns = Turns(count * _AHEAD, each=count)
        longest = max(limits.compile_seconds, limits.validation_seconds)
        stuck = _START_SECONDS + (_AHEAD + 1) * longest
        self._pool = Pool(count, prepare, limits.worker_bytes, stuck)

    async def start(self) -> None:
        """Return when a worker is ready."""
        await self.compile(SchemaSource(b"true"))

    async def compile(
        self, source: SchemaSource, begun: Callable[[], None] = _do_nothing
    ) -> Artifact:
        """Compile *source* in a worker; call *begun* when its turn has come.

        Raises:
            Refusal: as `compile_source`; LIMIT_EXCEEDED if it took too long or too much
                memory; WORKER_CRASHED if the worker died.
        """
        what, bound = "compiling the schema", "compile_seconds"
        return await self._run(what, bound, begun, compile_here, source, self._limits)

    async def judge(
        self, compiled: CompiledSchema, payload: bytes, how: EvaluationOptions
    ) -> Verdict:
        """Judge *payload* in a worker.

        Raises:
            Refusal: as `judge`; LIMIT_EXCEEDED if it took too long or too much memory;
                WORKER_CRASHED if the worker died.
        """
        what, bound = "judging the payload", "validation_seconds"
        task = (judge_here, compiled.source, compiled.artifact, self._limits, payload, how)
        return await self._run(what, bound, _do_nothing, *task)

    async def check(self, asked: CheckRequest) -> Checked:
        """Check the subject of *asked* in a worker; the questions of the rules are left.

        Raises:
            Refusal: as `check`; LIMIT_EXCEEDED if it took too long or too much memory;
                WORKER_CRASHED if the worker died.
        """
        # A worker may have to compile the surfaces that it needs first.
        what, bound = "checking the payload", "compile_seconds"
        return await self._run(what, bound, _do_nothing, check_here, asked, self._limits)

    async def convert(
        self,
        text: bytes,
        documents: tuple[Document, ...],
        api: ModelApi,
        options: ConversionOptions,
    ) -> ToolForm:
        """Convert the tool definition of that *text* in a worker; the form has no name as yet.

        Raises:
            Refusal: as `form_of` and `read_tool`; LIMIT_EXCEEDED if it took too long or
                too much memory; WORKER_CRASHED if the worker died.
        """
        what, bound = "converting the tool", "compile_seconds"
        task = (convert_here, text, documents, api, options, self._limits)
        return await self._run(what, bound, _do_nothing, *task)

    async def infer(self, source: bytes, options: InferenceOptions) -> InferenceResult:
        """Infer the definitions of the tools in *source* in a worker.

        Raises:
            Refusal: as `infer_tools`; LIMIT_EXCEEDED if it took too long or too much
                memory; WORKER_CRASHED if the worker died.
        """
        what, bound = "reading the source text", "compile_seconds"
        task = (infer_here, source, options, self._limits)
        return await self._run(what, bound, _do_nothing, *task)

    async def _run(
        self,
        what: str,
        bound: str,
        begun: Callable[[], None],
        function: Callable[..., _Answer | RequestError],
        *arguments: object,
    ) -> _Answer:
        seconds: int = getattr(self._limits, bound)
        async with AsyncExitStack() as turn:
            await turn.enter_async_context(self._turns.one())
            begun()
            # A caller who leaves keeps the turn until the worker is done: to stop what it
            # does is to kill it, and a new one takes a second to start.
            task = asyncio.create_task(
                self._answer(turn.pop_all(), what, bound, seconds, function, *arguments)
            )
        answer = await asyncio.shield(task)
        if isinstance(answer, RequestError):
            raise answer
        return answer

    async def _answer(
        self,
        turn: AsyncExitStack,
        what: str,
        bound: str,
        seconds: int,
        function: Callable[..., _Answer | RequestError],
        *arguments: object,
    ) -> _Answer | RequestError:
        async with turn:
            try:
                return await self._pool.run(seconds, function, *arguments)
            except TookTooLongError:
                return exceeded(bound, seconds, f"{what} takes too many seconds")
            except MemoryError:
                limit = self._limits.worker_bytes
                return exceeded("worker_bytes", limit, f"{what} takes too much memory")
            except LostError:
                said = f"the worker process that was {what} died; trying again may succeed"
                return RequestError(ErrorReason.WORKER_CRASHED, said)

    def close(self) -> None:
        """Stop all workers at once."""
        self._pool.close()
