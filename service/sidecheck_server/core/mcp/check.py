"""The one way to check something by the rules of the protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.budget import Budget, Exhausted
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.calls import check_call
from sidecheck_server.core.mcp.checking_values import check_value
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages import Message, check_messages
from sidecheck_server.core.mcp.results import check_result
from sidecheck_server.core.mcp.rules.methods import NOT_IN_VERSION
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.subjects import (
    Asked,
    CallParams,
    Elicitation,
    ElicitationResult,
    ProtocolMessage,
    Sampling,
    ToolJson,
    ToolResult,
)
from sidecheck_server.core.mcp.surfaces import Surfaces, has_type
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
    #: The JSON text of the arguments of a call, or of the structured content of a result,
    #: if that is to be judged under a schema of the tool.
    part: bytes | None = None


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
    texts = _texts(asked)
    if sum(map(len, texts)) > limits.bytes_at_once:
        for text in texts:
            _refuse_too_large(text, limits)
        return None
    try:
        return _check(asked, limits, surfaces, [limits.steps_at_once])
    except (Exhausted, RecursionError):
        return None


def _check(asked: Asked, limits: Limits, surfaces: Surfaces, budget: Budget) -> Checked:
    how = asked.how
    context = replace(asked.context, budget=budget)
    findings = Findings(context, most=how.most, longest=how.longest, least=how.least)
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
    _refuse_too_large(text, limits)
    return decode(text, max_depth=limits.payload_depth)


def _refuse_too_large(text: bytes, limits: Limits) -> None:
    if len(text) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, "the payload", len(text))


def _tool(subject: ToolJson, findings: Findings, limits: Limits, surfaces: Surfaces) -> Checked:
    check_value(_decoded(subject.json, limits), "Tool", findings, surfaces)
    return Checked(findings)


_ELICIT = "elicitation/create"


def _has(method: str, type_: str, findings: Findings) -> bool:
    """Return whether the version has *type_*, which *method* needs; if not, say so."""
    version = findings.context.version
    if has_type(version, type_):
        return True
    findings.tell(NOT_IN_VERSION, (), Fault((), f"{version} has no method {method}"))
    return False


def _elicitation(
    subject: Elicitation, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    params = _decoded(subject.params, limits)
    if _has(_ELICIT, "ElicitRequestParams", findings):
        check_value(params, "ElicitRequestParams", findings, surfaces)
    return Checked(findings)


def _elicitation_result(
    subject: ElicitationResult, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    if subject.params:
        request = _decoded(subject.params, limits)
        findings.context = replace(findings.context, request=request)
    result = _decoded(subject.result, limits)
    if _has(_ELICIT, "ElicitResult", findings):
        check_value(result, "ElicitResult", findings, surfaces)
    return Checked(findings)


def _sampling(subject: Sampling, findings: Findings, limits: Limits, surfaces: Surfaces) -> Checked:
    params = _decoded(subject.params, limits)
    check_value(params, "CreateMessageRequestParams", findings, surfaces)
    return Checked(findings)


def _call_params(
    subject: CallParams, findings: Findings, limits: Limits, surfaces: Surfaces
) -> Checked:
    value = _decoded(subject.params, limits)
    return Checked(findings, part=check_call(subject, value, findings, surfaces))


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
        CallParams: _call_params,
        ToolResult: _tool_result,
        ProtocolMessage: _message,
    }
)
