"""Tasks of workers, charged to the request that they are done for.

What a cache has is not computed, and so is not charged.
"""

from collections.abc import Awaitable
from typing import TypeVar

from sidecheck_server.core.compat.changes import ToolComparison
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import STEPS_PER_SECOND, Limits
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition
from sidecheck_server.core.payload import number_steps
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.services.cache import Begin
from sidecheck_server.services.offload import Work, steps_of
from sidecheck_server.services.request_work import charge_work
from sidecheck_server.services.task_runner import TaskRunner

__all__ = ["ChargedTasks"]

_Result = TypeVar("_Result")

# Steps of a task that passes its subject to a worker and back, and of one that compiles a
# small schema, loads it and explains what is wrong with it.
_TASK = 20_000
_COMPILATION = 80_000

# Steps of compiling: for a byte of the schema, for a byte of the generated code, and for
# an instruction of the patterns.
_SCHEMA_BYTE = 12
_CODE_BYTE = 64
_INSTRUCTION = 40

_ENDED_BY_LIMIT = 4_000_000
"""Steps of a task that a limit other than that of steps ended, at worst."""

_LEAST_ENDED = 10
"""How many tasks that took too many seconds a request may have: fewer would leave nothing to the
tools or items beside them."""


class ChargedTasks:
    """Runs tasks by *runner*, and charges each to the budget of the current request.

    A task that succeeds is charged what it took, in steps, as far as its result says; one
    that a limit ended, that limit, if it leaves most of the budget to others.
    """

    def __init__(self, runner: TaskRunner, limits: Limits) -> None:
        self._runner = runner
        self._limits = limits

    async def compile(self, source: SchemaSource, begun: Begin) -> Artifact:
        """Compile *source*; *begun* is called when the task starts."""
        size = len(source.json) + sum(len(document.json) for document in source.documents)
        artifact = await self._charged(
            self._runner.compile(source, begun), _COMPILATION + _SCHEMA_BYTE * size
        )
        code = 0 if artifact.fast is None else len(artifact.fast.code)
        charge_work(_CODE_BYTE * code + _INSTRUCTION * artifact.pattern_instructions)
        return artifact

    async def validate(
        self, compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
    ) -> Verdict:
        """Validate *payload* against *compiled*."""
        verdict = await self._charged(
            self._runner.validate(compiled, payload, options),
            _TASK + len(payload) + number_steps(payload),
        )
        charge_work(verdict.steps)
        return verdict

    async def check(self, request: CheckRequest) -> CheckReport:
        """Check the subject of *request*, without the deferred checks."""
        checked = await self._charged(self._runner.check(request), _TASK + request.subject.size)
        charge_work(self._limits.steps - max(0, checked.findings.context.budget[0]))
        return checked

    async def convert(
        self,
        text: bytes,
        documents: tuple[Document, ...],
        api: ModelApi,
        options: ConversionOptions,
    ) -> ToolForm:
        """Convert the tool definition *text*."""
        work = Work.CONVERT_DEFINITION
        form = await self._charged(
            self._runner.convert(text, documents, api, options), _TASK + steps_of(work, text)
        )
        charge_work(steps_of(work, form.length))
        return form

    async def compare(
        self, old: ToolDefinition, new: ToolDefinition, undecided: str = ""
    ) -> ToolComparison:
        """Compare two definitions, or with *undecided* only find what changed."""
        size = len(old.json) + len(new.json)
        task = self._runner.compare(old, new, undecided)
        comparison = await self._charged(task, _TASK + _SCHEMA_BYTE * size)
        charge_work(comparison.steps)
        return comparison

    async def _charged(self, task: Awaitable[_Result], steps: int) -> _Result:
        """Return the result of *task* after charging *steps*, or what its limit says."""
        charge_work(steps)
        try:
            return await task
        except RequestError as error:
            charge_work(self._steps_until(error))
            raise

    def _steps_until(self, error: RequestError) -> int:
        """Return the steps of a task that *error* ended."""
        if error.reason is ErrorReason.WORKER_CRASHED:
            return STEPS_PER_SECOND  # Another process takes about a second to start.
        bound = error.metadata.get("bound")
        if bound is None:
            return 0
        if bound == "steps":
            return self._limits.steps
        seconds = {
            "compile_seconds": self._limits.compile_seconds,
            "validation_seconds": self._limits.validation_seconds,
        }
        if bound not in seconds:
            return _ENDED_BY_LIMIT
        most = self._limits.request_steps // _LEAST_ENDED
        return min(seconds[bound] * STEPS_PER_SECOND, most)
