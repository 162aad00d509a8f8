"""Services that make spans of what they do for a call: look up, compile, evaluate, offload."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final, cast

from opentelemetry.context import attach, create_key, detach, get_value, set_value
from opentelemetry.trace import Span

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
from sidecheck_server.observability.tracing.spans import Attributes, ChildSpans
from sidecheck_server.services.cache import Begin
from sidecheck_server.services.resolution import ResolvedSchema, ResolvedTool, TargetResolver
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, RegisteredTool, SchemaDigest, Side, Target
from sidecheck_server.services.task_runner import TimedTaskRunner
from sidecheck_server.services.validation import Validator

__all__ = ["TracedResolver", "TracedSchemas", "TracedTasks", "TracedValidator"]

_LOOKUP: Final = create_key("sidecheck-lookup")


class _Lookup:
    """The compiled schemas that a lookup asked the cache for."""

    hits = misses = 0


class TracedResolver(TargetResolver):
    """Resolver with a span ``lookup`` of each target."""

    def __init__(self, spans: ChildSpans, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._spans = spans

    async def resolve_schema(
        self, target: Target, side: Side, version: str, *, assert_formats: bool
    ) -> ResolvedSchema:
        """Return the schema that *target* names."""
        lookup = _Lookup()
        attributes = {"sidecheck.target": _kind_of(target), "sidecheck.side": side.value}
        with self._spans.span("lookup", attributes) as span:
            token = attach(set_value(_LOOKUP, lookup))
            try:
                schema = await super().resolve_schema(
                    target, side, version, assert_formats=assert_formats
                )
            finally:
                detach(token)
                if lookup.hits or lookup.misses:
                    span.set_attribute("sidecheck.cache.hit", not lookup.misses)
            span.set_attributes(_facts_of(schema.compiled.artifact))
        return schema

    async def resolve_tool(self, target: Target, field: str = "tool") -> ResolvedTool:
        """Return the tool that *target* names."""
        with self._spans.span("lookup", {"sidecheck.target": _kind_of(target)}):
            return await super().resolve_tool(target, field)


class TracedSchemas(CompiledSchemas):
    """Cache of compiled schemas with a span ``compile`` of each that it does not have."""

    def __init__(self, spans: ChildSpans, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._spans = spans

    async def inline(self, source: SchemaSource) -> CompiledSchema:
        """Return the compiled schema of *source*."""
        _count(is_hit=source in self._inline)
        return await super().inline(source)

    async def registered(
        self,
        digest: str,
        source: SchemaSource | Callable[[], SchemaSource],
        *,
        assert_formats: bool = False,
    ) -> CompiledSchema:
        """Return the compiled schema of *digest*."""
        _count(is_hit=(digest, assert_formats) in self._registered)
        return await super().registered(digest, source, assert_formats=assert_formats)

    async def compile(self, source: SchemaSource, begin: Begin) -> CompiledSchema:
        """Compile *source*, in a worker, and load the result."""
        with self._spans.span("compile", _size_of(source)) as span:
            compiled = await super().compile(source, begin)
            span.set_attributes(_facts_of(compiled.artifact))
        return compiled


class TracedValidator(Validator):
    """Validator with a span ``evaluate`` of each evaluation in the event loop.

    Payloads of prepared targets have none: evaluating them is most of what their calls do, and
    takes less time than the span would.
    """

    def __init__(self, spans: ChildSpans, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._spans = spans

    def evaluate_inline(
        self, compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
    ) -> Verdict | None:
        """Return the verdict on *payload*, or None if it takes too long."""
        with self._spans.span("evaluate", {"sidecheck.payload.bytes": len(payload)}) as span:
            verdict = super().evaluate_inline(compiled, payload, options)
            if verdict is None:
                span.set_attribute("sidecheck.offloaded", value=True)
            else:
                _record_verdict(span, verdict)
        return verdict


class TracedTasks:
    """Runs tasks by *runner*, with a span ``offload`` of each, from its request to its result."""

    def __init__(self, spans: ChildSpans, runner: TimedTaskRunner) -> None:
        self._spans = spans
        self._runner = runner

    async def compile(self, source: SchemaSource, begun: Begin) -> Artifact:
        """Compile *source*."""
        with self._offload("compile", _size_of(source)) as span:
            waits = _waits(span)

            def begin() -> None:
                waits()
                begun()

            artifact = await self._runner.compile(source, begin)
            span.set_attributes(_facts_of(artifact))
        return artifact

    async def validate(
        self, compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
    ) -> Verdict:
        """Validate *payload* against *compiled*."""
        attributes = {"sidecheck.payload.bytes": len(payload), **_facts_of(compiled.artifact)}
        with self._offload("validate", attributes) as span:
            verdict = await self._runner.validate(compiled, payload, options, _waits(span))
            _record_verdict(span, verdict)
        return verdict

    async def check(self, request: CheckRequest) -> CheckReport:
        """Check the subject of *request*."""
        attributes = {"sidecheck.payload.bytes": request.subject.size}
        with self._offload("check", attributes) as span:
            return await self._runner.check(request, _waits(span))

    async def convert(
        self,
        text: bytes,
        documents: tuple[Document, ...],
        api: ModelApi,
        options: ConversionOptions,
    ) -> ToolForm:
        """Convert the tool definition *text*."""
        with self._offload("convert", {"sidecheck.definition.bytes": len(text)}) as span:
            return await self._runner.convert(text, documents, api, options, _waits(span))

    async def infer(self, source: bytes, options: InferenceOptions) -> InferenceResult:
        """Infer the definitions of the tools in *source*."""
        with self._offload("infer", {"sidecheck.source.bytes": len(source)}) as span:
            return await self._runner.infer(source, options, _waits(span))

    async def compare(
        self, old: ToolDefinition, new: ToolDefinition, undecided: str = ""
    ) -> ToolComparison:
        """Compare two definitions."""
        attributes = {"sidecheck.definition.bytes": len(old.json) + len(new.json)}
        with self._offload("compare", attributes) as span:
            return await self._runner.compare(old, new, undecided, _waits(span))

    def _offload(self, task: str, attributes: Attributes) -> AbstractContextManager[Span]:
        return self._spans.span("offload", {"sidecheck.task": task, **attributes})


def _waits(span: Span) -> Begin:
    """Return what records how long a task waited for its turn; a task waits from now on."""
    begun = time.perf_counter()

    def record() -> None:
        span.set_attribute("sidecheck.wait_seconds", round(time.perf_counter() - begun, 6))

    return record


def _count(*, is_hit: bool) -> None:
    lookup = cast("_Lookup | None", get_value(_LOOKUP))
    if lookup is not None:
        lookup.hits += is_hit
        lookup.misses += not is_hit


def _kind_of(target: Target) -> str:
    match target:
        case RegisteredTool():
            return "registered_tool"
        case InlineTool():
            return "inline_tool"
        case SchemaSource():
            return "inline_schema"
        case SchemaDigest():
            return "schema_digest"
        case _:
            return "definition_digest"


def _size_of(source: SchemaSource) -> Attributes:
    documents = sum(len(document.json) for document in source.documents)
    return {"sidecheck.schema.bytes": len(source.json) + documents}


def _facts_of(artifact: Artifact) -> Attributes:
    return {
        "sidecheck.dialect": artifact.dialect,
        "sidecheck.engine": "complete" if artifact.fast is None else "fast",
    }


def _record_verdict(span: Span, verdict: Verdict) -> None:
    span.set_attribute("sidecheck.outcome", "valid" if verdict.valid else "invalid")
    if verdict.violations:
        span.set_attribute("sidecheck.violations", len(verdict.violations))
