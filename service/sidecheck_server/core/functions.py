"""Public functions of the core, for programs that validate in process.

All are pure and synchronous, take and return JSON as `bytes`, and are bounded by *limits*.
Invalid input gives a verdict with violations; `RequestError` means that no verdict was
possible. A compiled schema may be kept and used in any thread.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from sidecheck_server.core.compat.changes import SetComparison, ToolComparison
from sidecheck_server.core.compat.pairing import (
    compare_trivial_pair,
    pair_definitions,
    read_definition,
)
from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.compiler.compilation import compile_schema as compile_source
from sidecheck_server.core.convert.batch import BatchTool, ToolBatch
from sidecheck_server.core.convert.converted_tool import ConvertedTool, ToolForm
from sidecheck_server.core.convert.mapping import mapping_from_json
from sidecheck_server.core.convert.model_call import (
    CallResolution,
    ResolvedArguments,
    check_definition,
    common_api,
    read_model_call,
    select_mapping,
)
from sidecheck_server.core.convert.names import ToolName
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.mcp import DEFAULT_TARGETS, portable_provider
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi, ServerPrefix
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport, check
from sidecheck_server.core.mcp.context import (
    DEFAULT_VERSION,
    Context,
    Sender,
    check_version_known,
)
from sidecheck_server.core.mcp.deferred import (
    deferred_source,
    deferred_value,
    error_outcome,
    resolve_deferred,
)
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, compile_protocol_schemas
from sidecheck_server.core.mcp.results.normalize import Value, normalize_output
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import (
    CheckRequest,
    ProtocolMessage,
    ReportLimits,
    Subject,
    ToolJson,
    ToolResult,
)
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, read_tool
from sidecheck_server.core.mcp.tool_outcomes import CheckedTool, read_tools_list, tool_outcomes
from sidecheck_server.core.mcp.wrapping.definitions import adapt_tool
from sidecheck_server.core.payload import encode_like
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Change, Document, Verdict

__all__ = [
    "ConvertedCall",
    "MessageSession",
    "check_message",
    "check_tools",
    "compare_tools",
    "compile_schema",
    "convert_call",
    "convert_tools",
    "make_portable",
    "normalize_result",
    "validate",
]

_LIMITS = Limits()
_OPTIONS = EvaluationOptions()
_CONVERSION = ConversionOptions()
_DUPLICATE = "another tool of the list has this name too; clients cannot tell them apart"


def compile_schema(
    schema: bytes,
    documents: Sequence[Document] = (),
    *,
    assert_formats: bool = False,
    limits: Limits = _LIMITS,
) -> CompiledSchema:
    """Compile the JSON *schema*; its references may lead into *documents*.

    Raises:
        RequestError: the schema is unusable, with a violation for each fault; LIMIT_EXCEEDED.
    """
    source = SchemaSource(schema, tuple(documents), assert_formats=assert_formats)
    return _compile(source, limits)


def validate(
    schema: CompiledSchema, payload: bytes, options: EvaluationOptions = _OPTIONS
) -> Verdict:
    """Return the verdict on *payload*, with a repaired payload if requested.

    Raises:
        RequestError: LIMIT_EXCEEDED, by the limits that *schema* was compiled with.
    """
    return evaluate(schema, payload, options)


def check_message(
    message: bytes,
    protocol_version: str = DEFAULT_VERSION,
    sender: Literal["client", "server"] | None = None,
    *,
    limits: Limits = _LIMITS,
) -> Verdict:
    """Return the verdict on *message*, a JSON-RPC message or batch, without a session.

    *sender* is the peer that sent the message; with None, methods of both peers are accepted.

    Raises:
        RequestError: UNKNOWN_PROTOCOL_VERSION; LIMIT_EXCEEDED.
    """
    context = _create_context(protocol_version, sender)
    return _check(ProtocolMessage(message), context, limits).findings.verdict()


class MessageSession:
    """Checks the messages of one connection, in order.

    *protocol_version* pins the version; by default the session follows the negotiation of the
    peers. Unless the first message is seen (*from_beginning*), rules that depend on earlier
    messages report nothing.
    """

    def __init__(
        self,
        protocol_version: str = "",
        *,
        from_beginning: bool = True,
        limits: Limits = _LIMITS,
    ) -> None:
        self._session = Session(
            _create_context(protocol_version or DEFAULT_VERSION),
            pinned=bool(protocol_version),
            from_beginning=from_beginning,
        )
        self._limits = limits

    def check(self, message: bytes, sender: Literal["client", "server"]) -> Verdict:
        """Return the verdict on the next *message*.

        Raises:
            RequestError: LIMIT_EXCEEDED; the session remains usable.
        """
        request = self._session.check_request(
            ProtocolMessage(message), Sender(sender), ReportLimits()
        )
        try:
            report = check(request, self._limits, _protocol_schemas(self._limits))
        except RequestError:
            self._session.record_gap()
            raise
        for _ in self._session.record(request, report):
            pass
        _resolve_deferred_checks(request, report, self._limits)
        return report.findings.verdict()


def check_tools(
    tools_list: bytes, protocol_version: str = DEFAULT_VERSION, *, limits: Limits = _LIMITS
) -> tuple[CheckedTool, ...]:
    """Return the outcome of each definition in *tools_list*, in order.

    The text is one definition, a list of definitions, a ``tools/list`` result, or a response
    with such a result.

    Raises:
        RequestError: INVALID_TOOL if it is none of these, with violations;
            UNKNOWN_PROTOCOL_VERSION; LIMIT_EXCEEDED.
    """
    context = _create_context(protocol_version)
    tools = read_tools_list(tools_list, limits).tools
    reports = [_check_tool(tool.json, context, limits) for tool in tools]
    return tuple(tool_outcomes(reports, [tool.pointer for tool in tools], _DUPLICATE))


def convert_tools(
    definitions: Sequence[bytes],
    api: ModelApi,
    options: ConversionOptions = _CONVERSION,
    *,
    server: str = "",
    limits: Limits = _LIMITS,
) -> tuple[ConvertedTool | RequestError, ...]:
    """Convert *definitions* of *server* to tools of *api*, or to errors.

    Pass all tools of one request together: names and strict modes depend on the whole set.
    """
    return _convert_tools(definitions, PROVIDERS[api], options, server, limits)


def make_portable(
    definitions: Sequence[bytes],
    targets: Iterable[str] = DEFAULT_TARGETS,
    protocol_version: str = DEFAULT_VERSION,
    *,
    keep_names: bool = False,
    limits: Limits = _LIMITS,
) -> tuple[ConvertedTool | RequestError, ...]:
    """Convert *definitions* to MCP definitions that all *targets* accept, or to errors.

    With *keep_names*, tools keep names that a target refuses. `convert_call` converts calls of
    the results back, with their mappings. Output schemas have the form for *protocol_version*.
    The targets are those of
    `sidecheck_server.core.portability`.
    """
    check_version_known(protocol_version)
    options = ConversionOptions(
        server_prefix=ServerPrefix.NEVER,
        include_output_schema=True,
        protocol_version=protocol_version,
    )
    provider = portable_provider(targets, keep_names=keep_names)
    return _convert_tools(definitions, provider, options, "", limits)


def _convert_tools(
    definitions: Sequence[bytes],
    provider: Provider,
    options: ConversionOptions,
    server: str,
    limits: Limits,
) -> tuple[ConvertedTool | RequestError, ...]:
    tools = [_read_batch_tool(definition, server, limits) for definition in definitions]
    batch = ToolBatch(tools, provider, options)

    def convert(
        tool: BatchTool[ToolDefinition], tool_options: ConversionOptions
    ) -> ToolForm | RequestError:
        if isinstance(tool.definition, RequestError):
            return tool.definition
        try:
            return convert_definition(tool.definition, provider, tool_options, limits)
        except RequestError as error:
            return error

    forms = [convert(tool, options) for tool in batch.tools]
    reasons = batch.not_strict_reasons(forms)
    forms = [
        convert(tool, batch.fallback) if reason else form
        for tool, form, reason in zip(batch.tools, forms, reasons, strict=True)
    ]
    return tuple(batch.outcomes(forms, batch.names(), reasons))


@dataclass(frozen=True, slots=True)
class ConvertedCall:
    """A tool call of a model, converted to MCP."""

    #: The original name of the tool; "" if the call does not identify it.
    tool: str
    #: The id of the call in the API, or "".
    id: str
    #: The arguments as JSON text; b"" if they cannot be read.
    arguments: bytes
    #: Changes from the arguments of the model to *arguments*.
    changes: tuple[Change, ...]
    #: The verdict on the arguments, or on a call that cannot be read.
    verdict: Verdict


def convert_call(
    call: bytes, mappings: Sequence[bytes], definition: bytes, *, limits: Limits = _LIMITS
) -> ConvertedCall:
    """Convert *call*, a tool call of a model, to a call of the tool with *definition*.

    *mappings* are the `ConvertedTool.mapping` of all tools in the request.

    Raises:
        RequestError: INVALID_REQUEST, INVALID_MAPPING or MAPPING_MISMATCH if the mappings do
            not belong to the call and the definition; LIMIT_EXCEEDED; as `compile_schema`.
    """
    read_mappings = [mapping_from_json(text, limits) for text in mappings]
    model_call = read_model_call(call, PROVIDERS[common_api(read_mappings)], limits)
    mapping = select_mapping(read_mappings, model_call)
    if mapping is None:
        return ConvertedCall("", model_call.id, b"", (), model_call.verdict)
    tool = read_tool(definition, (), limits)
    check_definition(mapping, tool.digest)
    if model_call.arguments is None or not model_call.verdict.valid:
        return ConvertedCall(mapping.tool, model_call.id, b"", (), model_call.verdict)
    compiled = _compile(tool.input, limits)
    resolution = CallResolution(model_call, mapping, _OPTIONS, limits)
    verdict = None
    while True:
        step = resolution.advance(verdict)
        if isinstance(step, ResolvedArguments):
            return ConvertedCall(
                mapping.tool, model_call.id, step.payload, step.changes, step.verdict
            )
        verdict = evaluate(compiled, step.payload, step.options)


def compare_tools(
    old: Sequence[bytes], new: Sequence[bytes], *, limits: Limits = _LIMITS
) -> SetComparison:
    """Compare two sets of definitions: changes, and whether they break callers.

    The search for a proof of compatibility is bounded only by the size of its search space.
    """
    # Imported late: the library is large, and most programs never compare.
    from sidecheck_server.core.compat.compare import compare_definitions  # noqa: PLC0415

    comparisons: list[ToolComparison] = []
    for pair in pair_definitions(
        *([read_definition(text, (), limits) for text in side] for side in (old, new))
    ):
        comparison = compare_trivial_pair(pair)
        if comparison is None:
            assert pair.old is not None and pair.old.definition is not None  # noqa: PT018
            assert pair.new is not None and pair.new.definition is not None  # noqa: PT018
            comparison = compare_definitions(pair.old.definition, pair.new.definition, limits)
        comparisons.append(comparison)
    return SetComparison(tuple(comparisons))


def normalize_result(
    value: bytes,
    definition: bytes | None = None,
    protocol_version: str = DEFAULT_VERSION,
    *,
    limits: Limits = _LIMITS,
) -> tuple[bytes, Verdict]:
    """Return the ``CallToolResult`` for the JSON *value* of a tool, with its verdict.

    With the *definition* of the tool, the structured content takes the form that the output
    schema has in *protocol_version*, and is validated against it.

    Raises:
        RequestError: UNKNOWN_PROTOCOL_VERSION; INVALID_TOOL; LIMIT_EXCEEDED.
        MalformedError: *value* is not JSON.
    """
    context = _create_context(protocol_version)
    adapted = None if definition is None else adapt_tool(definition, protocol_version, limits)
    output = None if adapted is None else adapted.output
    result: Any = normalize_output(Value(value), output, protocol_version, limits)
    text = encode_like(value, result)
    report = _check(ToolResult(text, has_output_schema=output is not None), context, limits)
    findings = report.findings
    if report.payload is not None and adapted is not None:
        source = read_tool(adapted.json, (), limits).output
        if source is not None:
            verdict = evaluate(_compile(source, limits), report.payload, _OPTIONS)
            findings.add_all(
                (
                    replace(
                        violation,
                        instance_location=f"/structuredContent{violation.instance_location}",
                    )
                    for violation in verdict.violations
                ),
                truncated=verdict.truncated,
            )
    return text, findings.verdict()


def _compile(source: SchemaSource, limits: Limits) -> CompiledSchema:
    return CompiledSchema(source, compile_source(source, limits), limits)


@lru_cache(maxsize=4)
def _protocol_schemas(limits: Limits) -> SchemaLookup:
    return compile_protocol_schemas(limits)


@lru_cache(maxsize=4)
def _compiler(limits: Limits) -> Callable[[SchemaSource], CompiledSchema | RequestError]:
    @lru_cache(maxsize=256)
    def compile_cached(source: SchemaSource) -> CompiledSchema | RequestError:
        try:
            return _compile(source, limits)
        except RequestError as error:
            return error

    return compile_cached


def _create_context(version: str, sender: Literal["client", "server"] | None = None) -> Context:
    check_version_known(version)
    return Context(version=version, sender=None if sender is None else Sender(sender))


def _check(subject: Subject, context: Context, limits: Limits) -> CheckReport:
    request = CheckRequest(subject, context)
    report = check(request, limits, _protocol_schemas(limits))
    _resolve_deferred_checks(request, report, limits)
    return report


def _resolve_deferred_checks(request: CheckRequest, report: CheckReport, limits: Limits) -> None:
    """Compile and evaluate the schemas in the subject; add the findings to *report*."""
    findings, options = report.findings, request.evaluation_options
    for pending in findings.pending:
        compiled, verdict = _compiler(limits)(deferred_source(pending, findings)), None
        value = deferred_value(pending)
        if value is not None and not isinstance(compiled, RequestError):
            verdict = evaluate(compiled, value, options)
        resolve_deferred(pending, findings, compiled, verdict)
    findings.pending.clear()


def _check_tool(text: bytes, context: Context, limits: Limits) -> CheckReport:
    try:
        return _check(ToolJson(text, canonical=False), context, limits)
    except RequestError as error:
        return error_outcome(CheckRequest(ToolJson(text, canonical=False), context), error)


def _read_batch_tool(text: bytes, server: str, limits: Limits) -> BatchTool[ToolDefinition]:
    try:
        tool = read_tool(text, (), limits)
    except RequestError as error:
        return BatchTool(ToolName(server, ""), error)
    return BatchTool(ToolName(server, tool.name), tool)
