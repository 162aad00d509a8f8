"""Checks of whole calls and results, by the protocol and the tool's schemas."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.call_errors import (
    ErrorResponse,
    invalid_arguments_response,
    invalid_result_response,
    malformed_call_response,
    non_object_arguments_response,
    unknown_tool_error,
)
from sidecheck_server.core.mcp.call_params import (
    ARGUMENTS,
    called_tool_name,
    requested_version,
    with_property,
)
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.results.check import STRUCTURED_CONTENT, missing_output_verdict
from sidecheck_server.core.mcp.subjects import CallParams, CheckRequest, ReportLimits, ToolResult
from sidecheck_server.core.payload import UNREADABLE_CODES, is_object_text
from sidecheck_server.core.types import Repair, Verdict, Violation
from sidecheck_server.services.offload import CountOffloaded, allow_offloading
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.resolution import ResolvedTool, TargetResolver
from sidecheck_server.services.targets import RegisteredTool, Side, Target
from sidecheck_server.services.validation import ValidationOptions, Validator

__all__ = [
    "NO_REPLY",
    "CallValidator",
    "CallVerdict",
    "ResultChecker",
    "reply_for_call",
    "reply_for_model_call",
    "reply_for_payload",
    "reply_for_result",
    "with_json_rpc_error",
]


@dataclass(frozen=True, slots=True)
class CallVerdict:
    """The verdict on a whole call or result."""

    verdict: Verdict
    #: The name of the tool, or "" if the call names none.
    tool: str = ""
    #: The digest of the tool's definition, or "".
    definition_digest: str = ""
    #: The digest of the schema that validated the arguments or the content, or "".
    schema_digest: str = ""
    #: Whether the caller should act on the verdict.
    enforced: bool = True
    #: The verdict on the arguments or the structured content alone, with locations
    #: inside them; None if they were not validated.
    part: Verdict | None = None
    #: Whether the call or result violates the protocol, regardless of the tool's schema.
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """The property of a call or a result that a schema validates."""

    #: The JSON text of the call or result.
    whole: bytes
    #: The name of the property.
    name: str
    side: Side


class CallValidator:
    """Validates whole calls and results of tools."""

    def __init__(
        self,
        resolver: TargetResolver,
        validator: Validator,
        checker: ProtocolChecker,
        limits: Limits,
    ) -> None:
        self._resolver = resolver
        self._validator = validator
        self._checker = checker
        self._limits = limits

    async def validate_absence(self, target: Target, version: str) -> CallVerdict:
        """Return the verdict on a result without structured content.

        Raises:
            RequestError: as `TargetResolver.resolve_tool`.
        """
        tool = await self._resolver.resolve_tool(target, "target")
        verdict = missing_output_verdict(version) if tool.output_schema_digest else Verdict()
        return _tool_verdict(verdict, tool, "" if verdict.valid else tool.output_schema_digest)

    async def validate_params(
        self,
        params: bytes,
        target: Target,
        options: ValidationOptions,
        count_offloaded: CountOffloaded = allow_offloading,
        *,
        arguments: bytes | None = None,
    ) -> CallVerdict:
        """Return the verdict on *params* of ``tools/call``, and on the arguments in them.

        If *target* is a registered tool without a name, *params* name the tool. *arguments* are
        those of *params*; pass them if an earlier check found no fault in the rest of *params*.

        Raises:
            RequestError: the target is unknown or invalid, or a limit is exceeded.
        """
        named = self.with_called_name(params, target)
        tool = None if named is None else await self._resolver.resolve_tool(named, "target")
        if arguments is None:
            subject = CallParams(params, "" if tool is None else tool.name)
            check_report = await self._check(subject, options, count_offloaded)
        else:
            check_report = _faultless_report(options, arguments)
        part = _Part(params, ARGUMENTS, Side.INPUT)
        return await self._validate(check_report, part, named, tool, options, count_offloaded)

    async def validate_result(
        self,
        result: bytes,
        target: Target,
        options: ValidationOptions,
        count_offloaded: CountOffloaded = allow_offloading,
        *,
        content: bytes | None = None,
    ) -> CallVerdict:
        """Return the verdict on a ``CallToolResult``, and on the structured content in it.

        *content* is the structured content of a complete *result* that is not an error; pass it
        if an earlier check found no fault in the rest of *result*.

        Raises:
            RequestError: the target is unknown or invalid, or a limit is exceeded.
        """
        tool = await self._resolver.resolve_tool(target, "target")
        has_output_schema = bool(tool.output_schema_digest)
        if content is None or not has_output_schema:
            subject = ToolResult(result, has_output_schema=has_output_schema)
            check_report = await self._check(subject, options, count_offloaded)
        else:
            check_report = _faultless_report(options, content)
        part = _Part(result, STRUCTURED_CONTENT, Side.OUTPUT)
        return await self._validate(check_report, part, target, tool, options, count_offloaded)

    def with_called_name(self, params: bytes, target: Target) -> Target | None:
        """Return *target* with the tool name in *params*, or None if they have none."""
        if not isinstance(target, RegisteredTool) or target.name:
            return target
        name = called_tool_name(params) if len(params) <= self._limits.payload_bytes else None
        return None if name is None else replace(target, name=name)

    async def _check(
        self,
        subject: CallParams | ToolResult,
        options: ValidationOptions,
        count_offloaded: CountOffloaded,
    ) -> CheckReport:
        context, limits = _context_and_limits(options)
        return await self._checker.check(CheckRequest(subject, context, limits), count_offloaded)

    async def _validate(
        self,
        check_report: CheckReport,
        part: _Part,
        target: Target | None,
        tool: ResolvedTool | None,
        options: ValidationOptions,
        count_offloaded: CountOffloaded,
    ) -> CallVerdict:
        """Return the verdict by *check_report*, and by the schema of the *part*."""
        findings, payload = check_report.findings, check_report.payload
        malformed, protocol_verdict = findings.has_errors, findings.verdict()
        if payload is None or target is None or tool is None:
            return replace(_tool_verdict(protocol_verdict, tool), malformed=malformed)
        schema = await self._resolver.resolve_schema(
            target, part.side, options.version, assert_formats=options.assert_formats
        )
        part_verdict = await self._validator.validate(
            schema, payload, options.evaluation, count_offloaded
        )
        if part_verdict.violations or part_verdict.truncated:
            violations = _relocate(part.name, part_verdict.violations)
            findings.add_all(violations, truncated=part_verdict.truncated)
        verdict = findings.verdict()
        if part_verdict.repair is not None:
            repair = _whole_repair(part, part_verdict.repair, protocol_verdict)
            verdict = replace(verdict, repair=repair)
        return CallVerdict(
            verdict,
            schema.tool,
            schema.definition_digest,
            schema.schema_digest,
            schema.enforced,
            part_verdict,
            malformed,
        )


class ResultChecker:
    """Checks results by the rules of the protocol and the tool's output schema."""

    def __init__(
        self, resolver: TargetResolver, validator: Validator, checker: ProtocolChecker
    ) -> None:
        self._resolver = resolver
        self._validator = validator
        self._checker = checker

    async def check(
        self,
        request: CheckRequest,
        target: Target | None,
        count_offloaded: CountOffloaded = allow_offloading,
        *,
        is_adapted: bool = False,
    ) -> CheckReport:
        """Return the findings about the result of *request*, deferred checks included.

        The output schema of the tool *target*, if any, validates the structured content. With
        *is_adapted* the content must have the form of the protocol version; without, it may
        also have the form of the definition.

        Raises:
            RequestError: the target is unknown, invalid or a bare schema; a limit is
                exceeded, or the worker crashed.
        """
        subject = request.subject
        assert isinstance(subject, ToolResult), "only results are checked here"
        if target is not None:
            tool = await self._resolver.resolve_tool(target, "target")
            has_output_schema = bool(tool.output_schema_digest)
            request = replace(
                request, subject=replace(subject, has_output_schema=has_output_schema)
            )
        check_report = await self._checker.check(request, count_offloaded)
        if check_report.payload is not None and target is not None:
            schema = await self._resolver.resolve_schema(
                target, Side.OUTPUT, request.context.version, assert_formats=False
            )
            if is_adapted:
                schema = replace(schema, unadapted=None)
            options = EvaluationOptions(
                max_violations=request.limits.max_violations,
                max_length=request.limits.max_characters,
                hide_values=request.context.hide_values,
            )
            verdict = await self._validator.validate(
                schema, check_report.payload, options, count_offloaded
            )
            violations = _relocate(STRUCTURED_CONTENT, verdict.violations)
            check_report.findings.add_all(violations, truncated=verdict.truncated)
        return check_report


def _context_and_limits(options: ValidationOptions) -> tuple[Context, ReportLimits]:
    evaluation = options.evaluation
    context = Context(version=options.version, hide_values=evaluation.hide_values)
    return context, ReportLimits(
        max_violations=evaluation.max_violations, max_characters=evaluation.max_length
    )


def _faultless_report(options: ValidationOptions, payload: bytes) -> CheckReport:
    """Return a report without findings on a call or result that contains *payload*."""
    return CheckReport(Findings(*_context_and_limits(options)), payload=payload)


def _tool_verdict(
    verdict: Verdict, tool: ResolvedTool | None, schema_digest: str = ""
) -> CallVerdict:
    if tool is None:
        return CallVerdict(verdict)
    return CallVerdict(verdict, tool.name, tool.definition_digest, schema_digest, tool.enforced)


def _relocate(name: str, violations: Iterable[Violation]) -> Iterable[Violation]:
    """Yield *violations* of the property *name* with locations in its parent object."""
    for violation in violations:
        location = f"/{name}{violation.instance_location}"
        yield replace(violation, instance_location=location)


def _whole_repair(part: _Part, repair: Repair, protocol_verdict: Verdict) -> Repair:
    """Return the *repair* of *part* as a repair of the whole call or result."""
    name, verdict = part.name, repair.verdict
    return Repair(
        payload=with_property(part.whole, name, repair.payload),
        verdict=Verdict.listing(
            [*protocol_verdict.violations, *_relocate(name, verdict.violations)],
            truncated=protocol_verdict.truncated or verdict.truncated,
        ),
        changes=tuple(
            replace(change, pointer=f"/{name}{change.pointer}") for change in repair.changes
        ),
    )


NO_REPLY = ErrorResponse()
"""The reply to valid subjects."""


# Decision 0028: the reply depends on whether the client or the model can correct the call.
def reply_for_payload(
    verdict: Verdict, payload: bytes, tool: str, side: Side, options: ValidationOptions
) -> ErrorResponse:
    """Return the reply to arguments or structured content with *verdict*."""
    if verdict.valid:
        return NO_REPLY
    name, explain = tool or None, options.lists_violations
    if side is Side.OUTPUT:
        return invalid_result_response(verdict, options.version, tool=name, explain=explain)
    if name is not None and not is_object_text(payload) and _is_json(verdict):
        return non_object_arguments_response(verdict, tool=name, explain=explain)
    return invalid_arguments_response(verdict, options.version, tool=name, explain=explain)


def reply_for_call(call: CallVerdict, params: bytes, options: ValidationOptions) -> ErrorResponse:
    """Return the reply to the *params* of a call."""
    name, explain = call.tool or None, options.lists_violations
    if call.verdict.valid:
        return NO_REPLY
    if call.malformed or call.part is None:
        versions = _versions(params, options)
        return malformed_call_response(
            call.verdict, call.part, tool=name, explain=explain, versions=versions
        )
    return invalid_arguments_response(call.part, options.version, tool=name, explain=explain)


def reply_for_result(result: CallVerdict, options: ValidationOptions) -> ErrorResponse:
    """Return the reply to a result, or to the absence of structured content in one."""
    if result.verdict.valid:
        return NO_REPLY
    return invalid_result_response(
        result.verdict,
        options.version,
        tool=result.tool or None,
        explain=options.lists_violations,
    )


def reply_for_model_call(call: CallVerdict, options: ValidationOptions) -> ErrorResponse:
    """Return the reply to a model's call, by the verdict on its arguments if any."""
    if call.verdict.valid:
        return NO_REPLY
    verdict = call.verdict if call.part is None else call.part
    return invalid_arguments_response(
        verdict, options.version, tool=call.tool or None, explain=options.lists_violations
    )


def with_json_rpc_error(
    error: RequestError, target: Target, options: ValidationOptions
) -> RequestError:
    """Return *error* of a call to an unknown tool, with a JSON-RPC error to reply."""
    metadata, message = dict(error.metadata), error.message
    named_by_payload = isinstance(target, RegisteredTool) and not target.name
    if options.evaluation.hide_values and named_by_payload:
        del metadata["tool"]
        metadata.pop("nearest", None)
        message = "the call names a tool that is not registered for the server"
    metadata["json_rpc_error"] = unknown_tool_error(metadata.get("tool", ""))
    return RequestError(error.reason, message, metadata)


def _versions(params: bytes, options: ValidationOptions) -> tuple[str, str] | None:
    """Return the applicable and the requested version, or None if hidden."""
    requested = requested_version(params)
    hidden = options.evaluation.hide_values and requested not in VERSIONS
    return None if requested is None or hidden else (options.version, requested)


def _is_json(verdict: Verdict) -> bool:
    return not any(violation.code in UNREADABLE_CODES for violation in verdict.violations)
