"""The one way to check something by the rules of the protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.budget import Budget, Exhausted
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.checking_values import check_value
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages import Message, check_messages
from sidecheck_server.core.mcp.subjects import (
    Asked,
    Elicitation,
    ElicitationResult,
    ProtocolMessage,
    ResultProfile,
    Sampling,
    ToolJson,
    ToolResult,
)
from sidecheck_server.core.mcp.surfaces import Surfaces
from sidecheck_server.core.payload import MalformedError, decode

__all__ = ["Checked", "check", "check_at_once"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found, as far as it could be told without compiling a schema of the payload.

    The questions that are left are in ``findings.questions``.
    """

    findings: Findings
    #: If the subject was a message: it, or those of the batch.
    messages: tuple[Message, ...] = field(default=())


def check(asked: Asked, limits: Limits, surfaces: Surfaces) -> Checked:
    """Return what is wrong with the subject of *asked*, whatever it takes within *limits*.

    Raises:
        Refusal: LIMIT_EXCEEDED, with the bound in its metadata.
    """
    try:
        return _check(asked, limits, surfaces, [limits.steps])
    except Exhausted:
        raise exceeded("steps", limits.steps, "checking takes too long") from None
    except RecursionError:
        raise exceeded("steps", limits.steps, "checking nests too deep") from None


def check_at_once(asked: Asked, limits: Limits, surfaces: Surfaces) -> Checked | None:
    """Return what `check` returns, or None if it takes longer than a moment.

    Raises:
        Refusal: as `check`.
        NotCompiledError: the schema of a type is not there yet.
    """
    if sum(map(len, _texts(asked))) > limits.bytes_at_once:
        return None
    try:
        return _check(asked, limits, surfaces, [limits.steps_at_once])
    except (Exhausted, RecursionError):
        return None


def _check(asked: Asked, limits: Limits, surfaces: Surfaces, budget: Budget) -> Checked:
    how = asked.how
    findings = Findings(
        asked.context.with_budget(budget), most=how.most, longest=how.longest, least=how.least
    )
    try:
        return _KINDS[type(asked.subject)](asked.subject, findings, limits, surfaces)
    except MalformedError as error:
        findings.add_all(error.violations, truncated=error.truncated)
        return Checked(findings)


def _texts(asked: Asked) -> list[bytes]:
    subject = asked.subject
    values = (getattr(subject, name) for name in subject.__slots__)
    return [value for value in values if isinstance(value, bytes)]


def _decoded(text: bytes, limits: Limits) -> Any:
    """Return the value of *text*.

    Raises:
        MalformedError: it is not JSON.
        Refusal: it is too large.
    """
    if len(text) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, "the payload", len(text))
    return decode(text, max_depth=limits.payload_depth)


def _tool(subject: ToolJson, findings: Findings, limits: Limits, surfaces: Surfaces) -> Checked:
    check_value(_decoded(subject.json, limits), "Tool", findings, surfaces)
    return Checked(findings)


def _elicitation(
    subject: Elicitation, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    params = _decoded(subject.params, limits)
    check_value(params, "ElicitRequestParams", findings, surfaces)
    return Checked(findings)


def _elicitation_result(
    subject: ElicitationResult, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    if subject.params:
        request = _decoded(subject.params, limits)
        findings.context = replace(findings.context, request=request)
    result = _decoded(subject.result, limits)
    check_value(result, "ElicitResult", findings, surfaces)
    return Checked(findings)


def _sampling(subject: Sampling, findings: Findings, limits: Limits, surfaces: Surfaces) -> Checked:
    params = _decoded(subject.params, limits)
    check_value(params, "CreateMessageRequestParams", findings, surfaces)
    return Checked(findings)


def _tool_result(
    subject: ToolResult, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    type_ = "TextResult" if subject.profile is ResultProfile.TEXT else "CallToolResult"
    check_value(_decoded(subject.json, limits), type_, findings, surfaces)
    return Checked(findings)


def _message(
    subject: ProtocolMessage, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    answers = subject.answers
    if subject.request:
        request = _decoded(subject.request, limits)
        if isinstance(request, dict):
            findings.context = replace(findings.context, request=request.get("params"))
            method = request.get("method")
            answers = answers or (method if isinstance(method, str) else "")
    value = _decoded(subject.json, limits)
    return Checked(findings, check_messages(value, answers, findings, surfaces))


_KINDS: Mapping[type, Callable[..., Checked]] = MappingProxyType(
    {
        ToolJson: _tool,
        Elicitation: _elicitation,
        ElicitationResult: _elicitation_result,
        Sampling: _sampling,
        ToolResult: _tool_result,
        ProtocolMessage: _message,
    }
)
