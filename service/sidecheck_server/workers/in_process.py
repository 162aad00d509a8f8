"""Worker tasks in the calling process, for commands that serve a single user."""

from collections.abc import Callable
from typing import TypeVar

from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.workers.tasks import check_task, compile_task, convert_task, infer_task

__all__ = ["InProcessWorker"]

_Result = TypeVar("_Result")


class InProcessWorker:
    """Runs each task at once. Has the methods of `Workers`.

    Limits in steps and bytes apply; those in seconds and memory need a process to kill.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

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


def _unwrap(result: _Result | RequestError) -> _Result:
    if isinstance(result, RequestError):
        raise result
    return result
