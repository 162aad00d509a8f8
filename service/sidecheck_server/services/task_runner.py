"""Protocol of what runs the tasks that take too long for the event loop."""

from typing import Protocol

from sidecheck_server.core.compat.changes import ToolComparison
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.services.cache import Begin

__all__ = ["TaskRunner", "TimedTaskRunner"]


class TaskRunner(Protocol):
    """Runs tasks that take too long for the event loop, in processes or in place."""

    async def compile(self, source: SchemaSource, begun: Begin) -> Artifact:
        """Compile *source*; *begun* is called when the task starts."""

    async def validate(
        self, compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
    ) -> Verdict:
        """Validate *payload* against *compiled*."""

    async def check(self, request: CheckRequest) -> CheckReport:
        """Check the subject of *request*, without the deferred checks."""

    async def convert(
        self,
        text: bytes,
        documents: tuple[Document, ...],
        api: ModelApi,
        options: ConversionOptions,
    ) -> ToolForm:
        """Convert the tool definition *text*."""

    async def infer(self, source: bytes, options: InferenceOptions) -> InferenceResult:
        """Infer the definitions of the tools in *source*."""

    async def compare(
        self, old: ToolDefinition, new: ToolDefinition, undecided: str = ""
    ) -> ToolComparison:
        """Compare two definitions, or with *undecided* only find what changed."""


class TimedTaskRunner(TaskRunner, Protocol):
    """A `TaskRunner` that tells when any task begins, if it knows."""

    async def validate(
        self,
        compiled: CompiledSchema,
        payload: bytes,
        options: EvaluationOptions,
        begun: Begin = ...,
    ) -> Verdict:
        """Validate *payload* against *compiled*; *begun* is called when the task starts."""

    async def check(self, request: CheckRequest, begun: Begin = ...) -> CheckReport:
        """Check the subject of *request*; *begun* is called when the task starts."""

    async def convert(
        self,
        text: bytes,
        documents: tuple[Document, ...],
        api: ModelApi,
        options: ConversionOptions,
        begun: Begin = ...,
    ) -> ToolForm:
        """Convert the tool definition *text*; *begun* is called when the task starts."""

    async def infer(
        self, source: bytes, options: InferenceOptions, begun: Begin = ...
    ) -> InferenceResult:
        """Infer the tools in *source*; *begun* is called when the task starts."""

    async def compare(
        self,
        old: ToolDefinition,
        new: ToolDefinition,
        undecided: str = "",
        begun: Begin = ...,
    ) -> ToolComparison:
        """Compare two definitions; *begun* is called when the task starts."""
