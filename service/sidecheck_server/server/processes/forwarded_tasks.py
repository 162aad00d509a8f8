"""Tasks of a serving process, which the workers of the first process run for all of them."""

from functools import partial
from typing import Any

from sidecheck_server.core.compat.changes import ToolComparison
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.server.processes.link import Link, LinkClosed
from sidecheck_server.services.cache import Begin, Cache, weigh_entry
from sidecheck_server.workers import CALLER, Workers

__all__ = ["ForwardedTasks", "SharedWorkers"]


def _ignore() -> None:
    """Do nothing when a task begins."""


class ForwardedTasks:
    """A `TaskRunner` that gives its tasks to the first process.

    It does not know when they begin there. A compilation that has begun when it is cancelled
    here goes on there, and is kept.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    async def compile(self, source: SchemaSource, begun: Begin) -> Artifact:  # noqa: ARG002
        """Compile *source*."""
        artifact: Artifact = await self._run("compile", source)
        return artifact

    async def validate(
        self,
        compiled: CompiledSchema,
        payload: bytes,
        options: EvaluationOptions,
        begun: Begin = _ignore,  # noqa: ARG002
    ) -> Verdict:
        """Validate *payload* against *compiled*."""
        source, artifact = compiled.source, compiled.artifact
        verdict: Verdict = await self._run("validate", source, artifact, payload, options)
        return verdict

    async def check(
        self,
        request: CheckRequest,
        begun: Begin = _ignore,  # noqa: ARG002
    ) -> CheckReport:
        """Check the subject of *request*, without the deferred checks."""
        report: CheckReport = await self._run("check", request)
        return report

    async def convert(
        self,
        text: bytes,
        documents: tuple[Document, ...],
        api: ModelApi,
        options: ConversionOptions,
        begun: Begin = _ignore,  # noqa: ARG002
    ) -> ToolForm:
        """Convert the tool definition *text*."""
        form: ToolForm = await self._run("convert", text, documents, api, options)
        return form

    async def infer(
        self,
        source: bytes,
        options: InferenceOptions,
        begun: Begin = _ignore,  # noqa: ARG002
    ) -> InferenceResult:
        """Infer the definitions of the tools in *source*."""
        result: InferenceResult = await self._run("infer", source, options)
        return result

    async def compare(
        self,
        old: ToolDefinition,
        new: ToolDefinition,
        undecided: str = "",
        begun: Begin = _ignore,  # noqa: ARG002
    ) -> ToolComparison:
        """Compare two definitions, or with *undecided* only find what changed."""
        comparison: ToolComparison = await self._run("compare", old, new, undecided)
        return comparison

    async def _run(self, name: str, *arguments: object) -> Any:
        try:
            return await self._link.call("run", CALLER.get(), name, arguments)
        except LinkClosed:
            raise RequestError(
                ErrorReason.WORKER_CRASHED,
                "the process with the workers has ended; the call may be retried",
            ) from None


class SharedWorkers(Workers):
    """Workers that run the tasks of all processes.

    Each process needs what the others have compiled. So it is compiled once, and kept as far
    as *cache_bytes* go.
    """

    def __init__(self, count: int, limits: Limits, cache_bytes: int) -> None:
        super().__init__(count, limits)
        self._own_limits = limits
        self.artifacts: Cache[SchemaSource, Artifact] = Cache(cache_bytes, _weight)

    async def compile(self, source: SchemaSource, begun: Begin = _ignore) -> Artifact:  # noqa: ARG002
        """Compile *source*, unless it is kept. What is cancelled after it has begun goes on.

        Raises:
            RequestError: as `Workers`.
        """
        return await self.artifacts.get(source, partial(super().compile, source))

    async def run(self, caller: str, name: str, arguments: tuple[Any, ...]) -> Any:
        """Run the task *name* for *caller*, a connection of one of the processes.

        Raises:
            RequestError: as `Workers`.
        """
        CALLER.set(caller)
        if name == "validate":
            source, artifact, *rest = arguments
            arguments = (CompiledSchema(source, artifact, self._own_limits), *rest)
        return await getattr(self, name)(*arguments)


def _weight(source: SchemaSource, outcome: Artifact | RequestError) -> int:
    if isinstance(outcome, RequestError):
        return weigh_entry(source, outcome)
    return weigh_entry(source, None) + outcome.memory
