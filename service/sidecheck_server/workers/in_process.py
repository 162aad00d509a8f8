"""Worker tasks in the calling process, for commands that serve a single user."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sidecheck_server.core.compat.changes import ToolComparison
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.workers.tasks import (
    check_task,
    compile_task,
    convert_task,
    infer_task,
)
from sidecheck_server.workers.workers import Workers

__all__ = ["InProcessWorker"]

_Result = TypeVar("_Result")

_WAIT_SECONDS = 60
"""How long comparisons wait for another process after a crash; no caller has a deadline."""


class InProcessWorker:
    """Runs each task at once, but for comparisons. Has the methods of `Workers`.

    Limits in steps and bytes apply; those in seconds and memory need a process to kill.
    Comparisons have one, which starts with the first of them: a proof is bounded by nothing
    else, and is sought by native code, which may crash.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._comparing: Workers | None = None
        self._starting: asyncio.Task[None] | None = None

    async def compile(
        self, source: SchemaSource, begun: Callable[[], None] | None = None
    ) -> Artifact:
        """Compile *source*."""
        if begun is not None:
            begun()
        return _unwrap(compile_task(source, self._limits))

    async def validate(
        self, compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
    ) -> Verdict:
        """Validate *payload* against *compiled*."""
        return evaluate(compiled, payload, options)

    async def check(self, request: CheckRequest) -> CheckReport:
        """Check the subject of *request*, without the deferred checks."""
        return _unwrap(check_task(request, self._limits))

    async def convert(
        self,
        text: bytes,
        documents: tuple[Document, ...],
        api: ModelApi,
        options: ConversionOptions,
    ) -> ToolForm:
        """Convert the tool definition *text*."""
        return _unwrap(convert_task(text, documents, api, options, self._limits))

    async def infer(self, source: bytes, options: InferenceOptions) -> InferenceResult:
        """Infer the tools in *source*."""
        return _unwrap(infer_task(source, options, self._limits))

    async def compare(
        self, old: ToolDefinition, new: ToolDefinition, undecided: str = ""
    ) -> ToolComparison:
        """Compare two definitions, or with *undecided* only find what changed.

        Raises:
            RequestError: as `Workers.compare`.
            WorkerStartError: no process can be started.
        """
        if self._comparing is None or self._starting is None:
            limits = replace(self._limits, worker_wait_seconds=_WAIT_SECONDS)
            self._comparing = Workers(1, limits)
            self._starting = asyncio.create_task(self._comparing.start())
        # One comparison that is cancelled leaves the start to the others.
        await asyncio.shield(self._starting)
        return await self._comparing.compare(old, new, undecided)

    def close(self) -> None:
        """Stop the process that compares, if there is one."""
        if self._comparing is not None:
            self._comparing.close()


def _unwrap(result: _Result | RequestError) -> _Result:
    if isinstance(result, RequestError):
        raise result
    return result
