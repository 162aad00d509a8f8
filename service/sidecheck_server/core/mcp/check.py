"""Entry point of the protocol checks: one function for every kind of subject."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import (
    Exhausted,
    Limits,
    limit_exceeded_error,
    recursion_depth_error,
    spend,
)
from sidecheck_server.core.mcp.call_params import check_call_params
from sidecheck_server.core.mcp.context import has_structured_content
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.checking import check_messages
from sidecheck_server.core.mcp.messages.envelopes import Message
from sidecheck_server.core.mcp.messages.method_checks import check_params_capabilities
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, check_value, has_type
from sidecheck_server.core.mcp.results.check import check_tool_result
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.tools import OUTPUT_SCHEMA_WRAPPED, WRAP_MARKER_MISMATCH
from sidecheck_server.core.mcp.subjects import (
    CallParams,
    CheckRequest,
    Elicitation,
    ElicitationResult,
    ProtocolMessage,
    Sampling,
    ToolJson,
    ToolList,
    ToolResult,
)
from sidecheck_server.core.mcp.tool_definitions import (
    check_tool_size,
    decode_tool,
    list_form,
    protocol_form,
    tool_name,
)
from sidecheck_server.core.mcp.wrapping.markers import (
    WRAPPED_PROPERTY,
    marker_fault,
    wrapped_property_of,
)
from sidecheck_server.core.mcp.wrapping.schemas import needs_wrapping
from sidecheck_server.core.payload import MalformedError, decode, number_steps

__all__ = ["CheckReport", "check", "try_check_inline"]


@dataclass(slots=True)
class CheckReport:
    """Findings of a check. ``findings.pending`` lists its deferred checks."""

    findings: Findings
    #: For a message subject: the message, or the messages of the batch.
    messages: tuple[Message, ...] = ()
    #: For a tool subject: the tool's name, or "".
    name: str = ""
    #: JSON text to validate against a schema of the tool, or None: the arguments of a call, or
    #: the structured content of a result.
    payload: bytes | None = None


def check(request: CheckRequest, limits: Limits, schemas: SchemaLookup) -> CheckReport:
    """Check the subject of *request* with all steps that *limits* allow.

    Raises:
        RequestError: LIMIT_EXCEEDED, with the bound in its metadata.
    """
    try:
        return _check(request, limits, schemas, limits.steps)
    except Exhausted:
        raise limit_exceeded_error("steps", limits.steps, "checking takes too long") from None
    except RecursionError:
        raise recursion_depth_error("the subject nests too deeply to check") from None


def try_check_inline(
    request: CheckRequest, limits: Limits, schemas: SchemaLookup
) -> CheckReport | None:
    """Check the subject of *request*; return None if it exceeds the inline bounds.

    Raises:
        RequestError: LIMIT_EXCEEDED, as for `check`.
        NotCompiledError: the schema of a type is not compiled yet.
    """
    subject = request.subject
    if subject.size > limits.inline_bytes:
        if isinstance(subject, ToolJson):
            check_tool_size(subject.json, limits)
        return None
    try:
        return _check(request, limits, schemas, limits.inline_steps)
    except (Exhausted, RecursionError):
        return None


def _check(request: CheckRequest, limits: Limits, schemas: SchemaLookup, steps: int) -> CheckReport:
    context, subject = request.context, request.subject
    context.budget[0] = steps
    findings = Findings(context, request.limits)
    try:
        return _CHECKS[type(subject)](subject, findings, limits, schemas)
    except MalformedError as error:
        findings.add_all(error.violations, truncated=error.truncated)
        return CheckReport(findings)
    finally:
        # The memo refers to parts of the value; the findings may be sent to another process.
        memo = findings.context.memo
        if memo:
            memo.clear()


def _decode(text: bytes, findings: Findings, limits: Limits) -> Any:
    """Return the decoded payload *text*.

    Raises:
        MalformedError: it is not JSON.
        RequestError: LIMIT_EXCEEDED.
        Exhausted: decoding its integers exceeds the budget.
    """
    if len(text) > limits.payload_bytes:
        raise limit_exceeded_error("payload_bytes", limits.payload_bytes, "the payload", len(text))
    spend(findings.context.budget, number_steps(text))
    return decode(text, max_depth=limits.payload_depth)


def _decode_request(text: bytes, field: str, findings: Findings, limits: Limits) -> Any:
    """Decode *text*, a *field* of the request that the checked result belongs to.

    Raises:
        RequestError: INVALID_REQUEST if it is not JSON; LIMIT_EXCEEDED.
    """
    try:
        return _decode(text, findings, limits)
    except MalformedError as error:
        fault = error.violations[0].message
        message = f"the {field} of the request that the result belongs to is not JSON: {fault}"
        raise RequestError(ErrorReason.INVALID_REQUEST, message, {"field": field}) from None


def _check_tool(
    subject: ToolJson, findings: Findings, limits: Limits, schemas: SchemaLookup
) -> CheckReport:
    spend(findings.context.budget, number_steps(subject.json))
    version = "" if subject.canonical else findings.context.version
    tool = decode_tool(subject.json, limits)
    form = protocol_form(tool, lenient=subject.canonical, version=version)
    for rule, fault in form.faults(lenient=subject.canonical):
        findings.report(rule, (), fault)
    tool = form.value
    if subject.canonical:
        _check_canonical_output(tool, findings)
        check_value(tool, "Tool", findings, schemas, schema_type="CanonicalTool")
    else:
        check_value(tool, "Tool", findings, schemas)
    return CheckReport(findings, name=tool_name(tool))


def _check_canonical_output(tool: Any, findings: Findings) -> None:
    """Report a wrong wrap marker, and an output schema that the version wraps.

    A wrong marker is reported in every version, since *tool* may be adapted to any.
    """
    context = findings.context
    schema = tool.get("outputSchema") if isinstance(tool, dict) else None
    if not isinstance(schema, dict):
        return
    fault = marker_fault(schema)
    if fault is not None:
        findings.report(WRAP_MARKER_MISMATCH, ("outputSchema",), fault)
    elif (
        has_structured_content(context.version)
        and not wrapped_property_of(schema)
        and needs_wrapping(schema, context.version, context.budget)
    ):
        fault = Fault((), _describe_wrapping(context.version))
        findings.report(OUTPUT_SCHEMA_WRAPPED, ("outputSchema",), fault)


def _describe_wrapping(version: str) -> str:
    return (
        f"the root is not an object, which {version} requires; it is listed and validated "
        f'wrapped in the property "{WRAPPED_PROPERTY}" (see AdaptTool)'
    )


def _check_tool_list(
    subject: ToolList, findings: Findings, limits: Limits, schemas: SchemaLookup
) -> CheckReport:
    result = _decode(subject.json, findings, limits)
    if subject.canonical:
        form = list_form(result)
        for rule, fault in form.faults(lenient=True):
            findings.report(rule, (), fault)
        result = form.value
    check_value(result, "ListToolsResult", findings, schemas)
    return CheckReport(findings)


def _check_elicitation(
    subject: Elicitation, findings: Findings, limits: Limits, schemas: SchemaLookup
) -> CheckReport:
    params = _decode(subject.params, findings, limits)
    _check_input_request(params, "elicitation/create", findings, schemas)
    return CheckReport(findings)


def _check_elicitation_result(
    subject: ElicitationResult, findings: Findings, limits: Limits, schemas: SchemaLookup
) -> CheckReport:
    if subject.params:
        request = _decode_request(subject.params, "params", findings, limits)
        findings.context = replace(findings.context, request=request)
    result = _decode(subject.result, findings, limits)
    check_value(result, "ElicitResult", findings, schemas)
    return CheckReport(findings)


def _check_sampling(
    subject: Sampling, findings: Findings, limits: Limits, schemas: SchemaLookup
) -> CheckReport:
    params = _decode(subject.params, findings, limits)
    _check_input_request(params, "sampling/createMessage", findings, schemas)
    return CheckReport(findings)


def _check_call_params(
    subject: CallParams, findings: Findings, limits: Limits, schemas: SchemaLookup
) -> CheckReport:
    value = _decode(subject.params, findings, limits)
    return CheckReport(findings, payload=check_call_params(subject, value, findings, schemas))


def _check_input_request(
    params: Any, method: str, findings: Findings, schemas: SchemaLookup
) -> None:
    """Check the *params* of *method*, a request for input from the client."""
    type_ = INPUT_REQUESTS[method].params
    if has_type(type_, findings.context.version):
        check_params_capabilities(method, params, findings)
    check_value(params, type_, findings, schemas)


def _check_tool_result(
    subject: ToolResult, findings: Findings, limits: Limits, schemas: SchemaLookup
) -> CheckReport:
    value = _decode(subject.json, findings, limits)
    return CheckReport(findings, payload=check_tool_result(subject, value, findings, schemas))


def _check_message(
    subject: ProtocolMessage, findings: Findings, limits: Limits, schemas: SchemaLookup
) -> CheckReport:
    request_method = subject.request_method
    if subject.request:
        request = _decode_request(subject.request, "request", findings, limits)
        if isinstance(request, dict):
            findings.context = replace(findings.context, request=request.get("params"))
            method = request.get("method")
            request_method = method if isinstance(method, str) else request_method
    value = _decode(subject.json, findings, limits)
    methods = subject.item_methods
    messages = check_messages(value, request_method, findings, schemas, item_methods=methods)
    return CheckReport(findings, messages)


_CHECKS: Mapping[type, Callable[..., CheckReport]] = MappingProxyType(
    {
        ToolJson: _check_tool,
        ToolList: _check_tool_list,
        Elicitation: _check_elicitation,
        ElicitationResult: _check_elicitation_result,
        Sampling: _check_sampling,
        CallParams: _check_call_params,
        ToolResult: _check_tool_result,
        ProtocolMessage: _check_message,
    }
)
