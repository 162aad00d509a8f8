"""The one way to check something by the rules of the protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.calls.params import check_call
from sidecheck_server.core.mcp.calls.results import check_result
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages import Message, check_messages
from sidecheck_server.core.mcp.messages.gates import tell_undeclared_alone
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS
from sidecheck_server.core.mcp.protocol_schemas import Surfaces
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
from sidecheck_server.core.mcp.tools.definitions import decoded_tool, name_of, refuse_too_large_tool
from sidecheck_server.core.mcp.typed_values import check_value, is_known
from sidecheck_server.core.payload import MalformedError, decode

__all__ = ["Checked", "check", "check_at_once"]


@dataclass(slots=True)
class Checked:
    """What was found, as far as it could be told without compiling a schema of the payload.

    The questions that are left are in ``findings.questions``.
    """

    findings: Findings
    #: If the subject was a message: it, or those of the batch.
    messages: tuple[Message, ...] = ()
    #: If the subject was a tool: its name, or "" if it has none.
    name: str = ""
    #: The JSON text of the arguments of a call, or of the structured content of a result,
    #: if that is to be judged under a schema of the tool.
    part: bytes | None = None


def check(asked: CheckRequest, limits: Limits, surfaces: Surfaces) -> Checked:
    """Return what is wrong with the subject of *asked*, whatever it takes within *limits*.

    Raises:
        Refusal: LIMIT_EXCEEDED, with the bound in its metadata.
    """
    try:
        return _check(asked, limits, surfaces, limits.steps)
    except Exhausted:
        raise exceeded("steps", limits.steps, "checking takes too long") from None
    except RecursionError:
        raise exceeded("steps", limits.steps, "checking nests too deep") from None


def check_at_once(asked: CheckRequest, limits: Limits, surfaces: Surfaces) -> Checked | None:
    """Return what `check` returns, or None if it takes longer than a moment.

    Raises:
        Refusal: as `check`.
        NotCompiledError: the schema of a type is not there yet.
    """
    subject = asked.subject
    if subject.size > limits.inline_bytes:
        if isinstance(subject, ToolJson):
            refuse_too_large_tool(subject.json, limits)
        return None
    try:
        return _check(asked, limits, surfaces, limits.inline_steps)
    except (Exhausted, RecursionError):
        return None


def _check(asked: CheckRequest, limits: Limits, surfaces: Surfaces, steps: int) -> Checked:
    how, context, subject = asked.how, asked.context, asked.subject
    context.budget[0] = steps
    findings = Findings(context, most=how.most, longest=how.longest, least=how.least)
    try:
        return _KINDS[type(subject)](subject, findings, limits, surfaces)
    except MalformedError as error:
        findings.add_all(error.violations, truncated=error.truncated)
        return Checked(findings)
    finally:
        # They hold parts of the value, and the findings may go to another process.
        readings = findings.context.readings
        if readings:
            readings.clear()


def _decoded(text: bytes, limits: Limits) -> Any:
    """Return the value of *text*.

    Raises:
        MalformedError: it is not JSON.
        Refusal: it is too large.
    """
    if len(text) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, "the payload", len(text))
    return decode(text, max_depth=limits.payload_depth)


def _given(text: bytes, field: str, limits: Limits) -> Any:
    """Return the value of *text*, which says what a result answers and is not checked itself.

    Raises:
        Refusal: INVALID_REQUEST if it is not JSON; LIMIT_EXCEEDED.
    """
    try:
        return _decoded(text, limits)
    except MalformedError as error:
        first = error.violations[0].message
        said = f"the {field} that the result answers is not JSON: {first}"
        raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": field}) from None


def _tool(subject: ToolJson, findings: Findings, limits: Limits, surfaces: Surfaces) -> Checked:
    tool = decoded_tool(subject.json, limits)
    check_value(tool, "Tool", findings, surfaces)
    return Checked(findings, name=name_of(tool))


def _tool_list(
    subject: ToolList, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    check_value(_decoded(subject.json, limits), "ListToolsResult", findings, surfaces)
    return Checked(findings)


def _elicitation(
    subject: Elicitation, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    params = _decoded(subject.params, limits)
    _check_asking(params, "elicitation/create", findings, surfaces)
    return Checked(findings)


def _elicitation_result(
    subject: ElicitationResult, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    if subject.params:
        request = _given(subject.params, "params", limits)
        findings.context = replace(findings.context, request=request)
    result = _decoded(subject.result, limits)
    check_value(result, "ElicitResult", findings, surfaces)
    return Checked(findings)


def _sampling(subject: Sampling, findings: Findings, limits: Limits, surfaces: Surfaces) -> Checked:
    params = _decoded(subject.params, limits)
    _check_asking(params, "sampling/createMessage", findings, surfaces)
    return Checked(findings)


def _call_params(
    subject: CallParams, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    value = _decoded(subject.params, limits)
    return Checked(findings, part=check_call(subject, value, findings, surfaces))


def _check_asking(params: Any, name: str, findings: Findings, surfaces: Surfaces) -> None:
    """Check the *params* of what a server asks of a client."""
    type_ = INPUT_REQUESTS[name].params
    if is_known(type_, findings.context.version):
        tell_undeclared_alone(name, params, findings)
    check_value(params, type_, findings, surfaces)


def _tool_result(
    subject: ToolResult, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    value = _decoded(subject.json, limits)
    return Checked(findings, part=check_result(subject, value, findings, surfaces))


def _message(
    subject: ProtocolMessage, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    answers = subject.answers
    if subject.request:
        request = _given(subject.request, "request", limits)
        if isinstance(request, dict):
            findings.context = replace(findings.context, request=request.get("params"))
            method = request.get("method")
            answers = method if isinstance(method, str) else answers
    value = _decoded(subject.json, limits)
    return Checked(findings, check_messages(value, answers, findings, surfaces))


_KINDS: Mapping[type, Callable[..., Checked]] = MappingProxyType(
    {
        ToolJson: _tool,
        ToolList: _tool_list,
        Elicitation: _elicitation,
        ElicitationResult: _elicitation_result,
        Sampling: _sampling,
        CallParams: _call_params,
        ToolResult: _tool_result,
        ProtocolMessage: _message,
    }
)
