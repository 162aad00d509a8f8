"""Inference of tools, and normalization of return values to results."""

from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.call_errors import invalid_result_response
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.results.check import STRUCTURED_CONTENT
from sidecheck_server.core.mcp.results.normalize import (
    Failure,
    ToolOutput,
    WholeResult,
    normalize_output,
    text_of,
    text_result,
)
from sidecheck_server.core.mcp.subjects import (
    CheckRequest,
    ReportLimits,
    ResultProfile,
    ToolResult,
)
from sidecheck_server.core.mcp.wrapping.schemas import AdaptedSchema
from sidecheck_server.core.payload import MalformedError, encode_like
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.calls import ResultChecker
from sidecheck_server.services.offload import OffloadRule, Work
from sidecheck_server.services.resolution import TargetResolver, ToolAdapter
from sidecheck_server.services.targets import Target
from sidecheck_server.workers.tasks import InferTools, RunTask

__all__ = [
    "Inferrer",
    "NormalizedResult",
    "Normalizer",
    "ValueToNormalize",
]


# Decision 0038: the source text is parsed, and never run.
class Inferrer:
    """Infers tools from source text, in a worker: only a kill can end Python's parser."""

    def __init__(self, run: RunTask, limits: Limits, *, enabled: bool) -> None:
        self._run = run
        self._limits = limits
        self._enabled = enabled

    async def infer(self, source: bytes, options: InferenceOptions) -> InferenceResult:
        """Return the definitions of the tools in *source*, which is parsed and never run.

        Raises:
            RequestError: FEATURE_DISABLED by the settings; LIMIT_EXCEEDED if the text is too
                large, or inference takes too much time or memory; WORKER_CRASHED.
        """
        if not self._enabled:
            raise RequestError(
                ErrorReason.FEATURE_DISABLED,
                "inference is disabled on this server (setting inference)",
                {"setting": "inference"},
            )
        limits = self._limits
        if len(source) > limits.source_bytes:
            raise limit_exceeded_error(
                "source_bytes", limits.source_bytes, "the source text", len(source)
            )
        return await self._run(InferTools(source, options))


@dataclass(frozen=True, slots=True)
class ValueToNormalize:
    """The return value of a tool, with the tool and the form of the result to build."""

    returned: ToolOutput
    #: The tool, or None if it is not known.
    target: Target | None
    profile: ResultProfile
    context: Context
    limits: ReportLimits
    #: Whether the request names the protocol version itself.
    names_version: bool = True


@dataclass(frozen=True, slots=True)
class NormalizedResult:
    """A result that conforms to the protocol."""

    #: The ``CallToolResult``, as JSON text.
    json: bytes
    #: The verdict on the result as it was built from the return value.
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class _UncheckedResult:
    json: bytes
    is_structured: bool


class Normalizer:
    """Builds results from return values."""

    def __init__(
        self,
        resolver: TargetResolver,
        adapter: ToolAdapter,
        results: ResultChecker,
        limits: Limits,
    ) -> None:
        self._resolver = resolver
        self._adapter = adapter
        self._results = results
        self._limits = limits
        self._offload = OffloadRule(limits)

    async def normalize(self, value: ValueToNormalize) -> NormalizedResult:
        """Return the result of a tool that returned *value*.

        A result that violates the protocol or the output schema is replaced by an error
        result that lists the violations.

        Raises:
            RequestError: as `ToolAdapter.adapt` and `ResultChecker.check`.
        """
        if not value.names_version:
            value = replace(value, context=self._resolver.context_of(value.target, value.context))
        version, as_text = value.context.version, value.profile is ResultProfile.TEXT
        tool = adapted = None
        if value.target is not None:
            tool = await self._resolver.resolve_tool(value.target)
            adapted = await self._adapter.adapt(tool.definition, version)
        output = None if adapted is None else adapted.output
        returned = value.returned
        text = returned.size if isinstance(returned, Failure) else returned.json
        try:
            result = await self._offload.run(
                Work.NORMALIZE_RESULT, text, lambda: self._normalize(value, output)
            )
        except MalformedError as error:
            verdict = Verdict.listing(list(error.violations), truncated=error.truncated)
        else:
            target = value.target
            if as_text and not result.is_structured:
                # A text result needs no structured content, even with an output schema.
                target = None
            request = CheckRequest(ToolResult(result.json), value.context, value.limits)
            check_report = await self._results.check(request, target, is_adapted=True)
            verdict = check_report.findings.verdict()
        if not verdict.valid:
            name = None if tool is None else tool.name
            error_result = invalid_result_response(verdict, version, tool=name).call_tool_result
            if as_text:
                error_result = self._text_result(WholeResult(error_result), version)
            return NormalizedResult(error_result, verdict)
        if as_text:
            text_json = await self._offload.run(
                Work.NORMALIZE_RESULT, text, lambda: self._text_result(returned, version)
            )
            return NormalizedResult(text_json, verdict)
        return NormalizedResult(result.json, verdict)

    def _normalize(self, value: ValueToNormalize, output: AdaptedSchema | None) -> _UncheckedResult:
        result: Any = normalize_output(value.returned, output, value.context.version, self._limits)
        is_structured = isinstance(result, dict) and STRUCTURED_CONTENT in result
        return _UncheckedResult(encode_like(text_of(value.returned), result), is_structured)

    def _text_result(self, returned: ToolOutput, version: str) -> bytes:
        # Without the output schema, since text is not wrapped.
        result = normalize_output(returned, None, version, self._limits)
        return encode_like(text_of(returned), text_result(result))
