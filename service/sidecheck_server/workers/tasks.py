"""Tasks of worker processes: one class for each kind of work."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

from cachetools import LRUCache

from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import STEPS_PER_SECOND, Limits
from sidecheck_server.core.mcp.check import CheckReport, check
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, compile_protocol_schemas
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, read_tool
from sidecheck_server.core.payload import number_steps
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Verdict

if TYPE_CHECKING:
    # Kinds of work that few processes do import their package when they run.
    from sidecheck_server.core.compat.changes import ToolComparison
    from sidecheck_server.core.convert.converted_tool import ToolForm
    from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
    from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult

__all__ = [
    "CONVERSION_BYTE",
    "INTEGER_USES",
    "KINDS",
    "Attributes",
    "CheckSubject",
    "CompareTools",
    "CompileSchema",
    "ConvertTool",
    "InferTools",
    "RunTask",
    "Task",
    "ValidatePayload",
    "artifact_attributes",
    "execute_task",
    "ignore_begin",
    "verdict_attributes",
]

_Result = TypeVar("_Result")

#: Attributes of a span: kinds and counts, never names, values or schemas of a request.
Attributes: TypeAlias = Mapping[str, str | int]

# Steps of passing the input of a task to a worker and its result back, and of compiling a
# small schema, loading it and explaining its faults.
_TRANSFER = 20_000
_COMPILATION = 80_000

# Steps of compilation for a byte of the schema, for a byte of the generated code, and for an
# instruction of the patterns.
_SCHEMA_BYTE = 12
_CODE_BYTE = 64
_INSTRUCTION = 40

CONVERSION_BYTE: Final = 24
"""Most steps of a conversion for each byte of the definition, or of the result."""

INTEGER_USES: Final = 4
"""Most conversions of each integer of a text, including those for digests."""


class Task(ABC, Generic[_Result]):
    """Work that takes too long for the event loop.

    Each kind of work is a frozen dataclass of its input, which can be pickled.
    """

    __slots__ = ()

    name: ClassVar[str]
    """The name of the kind in metrics and traces."""
    activity: ClassVar[str]
    """Description of the work in error messages, as in ``compiling the schema``."""
    bound: ClassVar[str] = "compile_seconds"
    """Name of its limit of processor time, in seconds."""
    needs_process: ClassVar[bool] = False
    """Whether only killing a process can bound it, so that commands start one for it."""

    @abstractmethod
    def execute(self, limits: Limits) -> _Result:
        """Return the result, in the worker.

        Raises:
            RequestError: see the kind of task.
        """

    def input_steps(self) -> int:
        """Return the steps charged for the input, before the task starts."""
        # Decision 0050: steps are counted or estimated by size, never by the clock.
        return 0

    def result_steps(self, result: _Result, limits: Limits) -> int:
        """Return the steps charged for *result*, in addition to those for the input."""
        return 0

    def input_attributes(self) -> Attributes:
        """Return the attributes of its span for the input."""
        return {}

    def result_attributes(self, result: _Result) -> Attributes:
        """Return the attributes that *result* adds to its span."""
        return {}


def ignore_begin() -> None:
    """Do nothing when a task begins."""


class RunTask(Protocol):
    """Function that runs tasks, in a worker or in the same process."""

    async def __call__(self, task: Task[_Result], on_begin: Callable[[], None] = ...) -> _Result:
        """Return the result of *task*; call *on_begin* when it starts, if that is known.

        Raises:
            RequestError: as `Task.execute`; LIMIT_EXCEEDED if the task exceeds its limit of
                processor time or memory; WORKER_CRASHED.
        """


def execute_task(task: Task[_Result], limits: Limits) -> _Result | RequestError:
    """Return the result of *task*, or the request error that it raises."""
    try:
        return task.execute(limits)
    except RequestError as error:
        return error


@dataclass(frozen=True, slots=True)
class CompileSchema(Task[Artifact]):
    """Compiles a schema; errors are those of `compile_schema`."""

    name = "compile"
    activity = "compiling the schema"

    source: SchemaSource
    #: Whether the schema is valid against its meta-schema, as those of the protocol are.
    is_known_valid: bool = False

    def execute(self, limits: Limits) -> Artifact:
        return compile_schema(self.source, limits, is_known_valid=self.is_known_valid)

    def input_steps(self) -> int:
        return _COMPILATION + _SCHEMA_BYTE * self._size

    def result_steps(self, result: Artifact, limits: Limits) -> int:
        code = 0 if result.fast is None else len(result.fast.code)
        return _CODE_BYTE * code + _INSTRUCTION * result.pattern_instructions

    def input_attributes(self) -> Attributes:
        return {"sidecheck.schema.bytes": self._size}

    def result_attributes(self, result: Artifact) -> Attributes:
        return artifact_attributes(result)

    @property
    def _size(self) -> int:
        return len(self.source.json) + sum(len(document.json) for document in self.source.documents)


@dataclass(frozen=True, slots=True)
class ValidatePayload(Task[Verdict]):
    """Validates a payload; errors are those of `evaluate`."""

    name = "validate"
    activity = "validating the payload"
    bound = "validation_seconds"

    compiled: CompiledSchema
    payload: bytes
    options: EvaluationOptions

    def execute(self, limits: Limits) -> Verdict:
        # Engines cannot be pickled; reuse the engines of earlier tasks.
        key = self.compiled.source, self.compiled.limits
        compiled = _COMPILED.get(key)
        if compiled is None:
            compiled = self.compiled
            with suppress(ValueError):  # the schema is larger than the cache
                _COMPILED[key] = compiled
        try:
            return evaluate(compiled, self.payload, self.options)
        except MemoryError:
            # Retry without the cache, since its memory use must not affect the result.
            _COMPILED.clear()
            compiled = CompiledSchema(self.compiled.source, self.compiled.artifact, limits)
            return evaluate(compiled, self.payload, self.options)

    def input_steps(self) -> int:
        return _TRANSFER + len(self.payload) + number_steps(self.payload)

    def result_steps(self, result: Verdict, limits: Limits) -> int:
        return result.steps

    def input_attributes(self) -> Attributes:
        artifact = artifact_attributes(self.compiled.artifact)
        return {"sidecheck.payload.bytes": len(self.payload), **artifact}

    def result_attributes(self, result: Verdict) -> Attributes:
        return verdict_attributes(result)


_COMPILED: LRUCache[tuple[SchemaSource, Limits], CompiledSchema] = LRUCache(
    32 << 20, getsizeof=lambda compiled: compiled.artifact.memory
)
"""Recently used compiled schemas of this process, weighed by their memory in bytes."""


@dataclass(frozen=True, slots=True)
class CheckSubject(Task[CheckReport]):
    """Checks a subject, without the deferred checks; errors are those of `check`."""

    name = "check"
    activity = "checking the payload"
    # Bounded by `compile_seconds`: a worker may first have to compile the protocol's schemas.

    request: CheckRequest

    def execute(self, limits: Limits) -> CheckReport:
        return check(self.request, limits, _protocol_schemas(limits))

    def input_steps(self) -> int:
        return _TRANSFER + self.request.subject.size

    def result_steps(self, result: CheckReport, limits: Limits) -> int:
        return limits.steps - max(0, result.findings.context.budget[0])

    def input_attributes(self) -> Attributes:
        return {"sidecheck.payload.bytes": self.request.subject.size}


@lru_cache(maxsize=1)
def _protocol_schemas(limits: Limits) -> SchemaLookup:
    """Return the protocol's schemas, compiled once in each worker."""
    return compile_protocol_schemas(limits)


@dataclass(frozen=True, slots=True)
class ConvertTool(Task["ToolForm"]):
    """Converts a definition, without choosing the name of the tool.

    Errors are those of `read_tool` and `convert_definition`.
    """

    name = "convert"
    activity = "converting the tool"

    text: bytes
    documents: tuple[Document, ...]
    api: "ModelApi"
    options: "ConversionOptions"

    def execute(self, limits: Limits) -> "ToolForm":
        from sidecheck_server.core.convert.providers import find_provider  # noqa: PLC0415
        from sidecheck_server.core.convert.tool_conversion import convert_definition  # noqa: PLC0415

        tool = read_tool(self.text, self.documents, limits)
        provider = find_provider(self.api, self.options)
        return convert_definition(tool, provider, self.options, limits)

    def input_steps(self) -> int:
        integers = INTEGER_USES * number_steps(self.text)
        return _TRANSFER + CONVERSION_BYTE * len(self.text) + integers

    def result_steps(self, result: "ToolForm", limits: Limits) -> int:
        return CONVERSION_BYTE * result.length

    def input_attributes(self) -> Attributes:
        return {"sidecheck.definition.bytes": len(self.text)}


@dataclass(frozen=True, slots=True)
class InferTools(Task["InferenceResult"]):
    """Infers the tools of a source text; errors are those of `infer_tools`.

    It charges no steps, because a request causes only one such task.
    """

    name = "infer"
    activity = "parsing the source text"

    source: bytes
    options: "InferenceOptions"

    def execute(self, limits: Limits) -> "InferenceResult":
        from sidecheck_server.core.infer.infer import infer_tools  # noqa: PLC0415

        return infer_tools(self.source, self.options, limits)

    def input_attributes(self) -> Attributes:
        return {"sidecheck.source.bytes": len(self.source)}


@dataclass(frozen=True, slots=True)
class CompareTools(Task["ToolComparison"]):
    """Compares two definitions; with *undecided*, without a proof.

    The search for a proof is bounded only by its process. It is native code and may crash.
    """

    name = "compare"
    activity = "comparing the tool"
    needs_process = True

    old: ToolDefinition
    new: ToolDefinition
    undecided: str = ""

    def execute(self, limits: Limits) -> "ToolComparison":
        from sidecheck_server.core.compat.compare import compare_definitions  # noqa: PLC0415

        started = time.process_time()
        comparison = compare_definitions(self.old, self.new, limits, self.undecided)
        seconds = time.process_time() - started
        return replace(comparison, steps=int(seconds * STEPS_PER_SECOND))

    def input_steps(self) -> int:
        return _TRANSFER + _SCHEMA_BYTE * self._size

    def result_steps(self, result: "ToolComparison", limits: Limits) -> int:
        return result.steps

    def input_attributes(self) -> Attributes:
        return {"sidecheck.definition.bytes": self._size}

    @property
    def _size(self) -> int:
        return len(self.old.json) + len(self.new.json)


KINDS: Final[tuple[type[Task[Any]], ...]] = (
    CompileSchema,
    ValidatePayload,
    CheckSubject,
    ConvertTool,
    InferTools,
    CompareTools,
)


def artifact_attributes(artifact: Artifact) -> Attributes:
    """Return the attributes of a span for *artifact*."""
    return {
        "sidecheck.dialect": artifact.dialect,
        "sidecheck.engine": "complete" if artifact.fast is None else "fast",
    }


def verdict_attributes(verdict: Verdict) -> Attributes:
    """Return the attributes of a span for *verdict*."""
    outcome: Attributes = {"sidecheck.outcome": "valid" if verdict.valid else "invalid"}
    if verdict.violations:
        return {**outcome, "sidecheck.violations": len(verdict.violations)}
    return outcome
