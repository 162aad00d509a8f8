"""Services with spans for look-up, compilation, evaluation and offloading."""

import time
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from opentelemetry.context import attach, create_key, detach, get_value, set_value

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Verdict
from sidecheck_server.observability.tracing.spans import ChildSpans
from sidecheck_server.services.cache import Begin
from sidecheck_server.services.resolution import ResolvedSchema, ResolvedTool, TargetResolver
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, RegisteredTool, SchemaDigest, Side, Target
from sidecheck_server.services.validation import Validator
from sidecheck_server.workers.tasks import (
    CompileSchema,
    RunTask,
    Task,
    artifact_attributes,
    ignore_begin,
    verdict_attributes,
)

__all__ = ["TracedResolver", "TracedSchemas", "TracedValidator", "trace_tasks"]

_Result = TypeVar("_Result")

_LOOKUP: Final = create_key("sidecheck-lookup")


class _Lookup:
    """Cache hits and misses for compiled schemas in one look-up."""

    hits = misses = 0


class TracedResolver(TargetResolver):
    """Resolver with a span ``lookup`` for each target."""

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
            span.set_attributes(artifact_attributes(schema.compiled.artifact))
        return schema

    async def resolve_tool(self, target: Target, field: str = "tool") -> ResolvedTool:
        """Return the tool that *target* names."""
        with self._spans.span("lookup", {"sidecheck.target": _kind_of(target)}):
            return await super().resolve_tool(target, field)


class TracedSchemas(CompiledSchemas):
    """Cache of compiled schemas with a span ``compile`` for each miss."""

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
        task = CompileSchema(source)
        with self._spans.span("compile", task.input_attributes()) as span:
            compiled = await super().compile(source, begin)
            span.set_attributes(task.result_attributes(compiled.artifact))
        return compiled


class TracedValidator(Validator):
    """Validator with a span ``evaluate`` for each evaluation in the event loop.

    Evaluations for prepared targets have no span: they are most of the work of their calls,
    and take less time than a span.
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
                span.set_attributes(verdict_attributes(verdict))
        return verdict


def trace_tasks(spans: ChildSpans, run: RunTask) -> RunTask:
    """Return *run* with a span ``offload`` for each task, from request to result."""

    async def run_traced(
        task: Task[_Result], on_begin: Callable[[], None] = ignore_begin
    ) -> _Result:
        attributes = {"sidecheck.task": task.name, **task.input_attributes()}
        with spans.span("offload", attributes) as span:
            requested = time.perf_counter()

            def begin() -> None:
                wait_seconds = round(time.perf_counter() - requested, 6)
                span.set_attribute("sidecheck.wait_seconds", wait_seconds)
                on_begin()

            result = await run(task, begin)
            span.set_attributes(task.result_attributes(result))
        return result

    return run_traced


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
