"""Judging what is in a message: its method, its params, its result or its error."""

from typing import Any

from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.gates import tell_undeclared
from sidecheck_server.core.mcp.messages.message import Kind, Message
from sidecheck_server.core.mcp.messages.unknown import tell_unknown
from sidecheck_server.core.mcp.methods import Method, find_method
from sidecheck_server.core.mcp.protocol_schemas import Surfaces
from sidecheck_server.core.mcp.rules import envelope, errors, input_required, methods
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.typed_values import check_value

__all__ = ["judge_message"]

#: The first version with input-required results and types of results.
_ASKING = "2026-07-28"
# Looking a member of an enumeration up takes longer than comparing it.
_REQUEST, _NOTIFICATION, _ANSWER, _REFUSAL = (
    Kind.REQUEST,
    Kind.NOTIFICATION,
    Kind.RESULT,
    Kind.ERROR,
)
_PARAMS, _RESULT, _ERROR, _DATA = ("params",), ("result",), ("error",), ("data",)


def judge_message(message: Message, answers: str, findings: Findings, surfaces: Surfaces) -> None:
    """Tell *findings* what is wrong with the contents of *message*, whose envelope was read.

    *answers* is the method that a response answers, or "".
    """
    kind = message.kind
    if kind is _REQUEST or kind is _NOTIFICATION:
        _judge_asking(message, findings, surfaces)
    elif kind is _ANSWER:
        _judge_result(message, answers, findings, surfaces)
    elif kind is _REFUSAL:
        _judge_error(message, answers, findings, surfaces)


def _judge_asking(message: Message, findings: Findings, surfaces: Surfaces) -> None:
    context = findings.context
    name, value = message.method, message.value
    method = find_method(name, context.version, context.sender)
    if method is None:
        if not tell_unknown(message, findings):
            return
        # Its params may still be those of the other side's method of that name.
        method = find_method(name, context.version)
    else:
        tell_undeclared(method, message, findings)
    if method is None:
        type_ = "RequestParams" if message.kind is _REQUEST else "NotificationParams"
    else:
        type_ = method.params
        if method.is_request and message.kind is _NOTIFICATION:
            said = f"expected an id, since {name} is a request"
            findings.tell(envelope.REQUEST_WITHOUT_ID, message.path, Fault((), said, "id"))
        if method.params_required and "params" not in value:
            said = f"expected params, which {name} needs"
            findings.tell(methods.PARAMS_MISSING, message.path, Fault((), said, "params"))
    params = value.get("params")
    if type(params) is dict:
        check_value(params, type_, findings, surfaces, message.path + _PARAMS)
        if method is not None and not method.may_ask and context.version >= _ASKING:
            _tell_misplaced(message, params, findings)


def _tell_misplaced(message: Message, params: dict[str, Any], findings: Findings) -> None:
    """Tell of what belongs to a retry, in a request that is never retried."""
    for member in ("inputResponses", "requestState"):
        if member in params:
            said = f"{message.method} never asks for input, so it has no {member}"
            at = ("params", member)
            findings.tell(input_required.RETRY_MISPLACED, message.path, Fault(at, said))


def _judge_result(message: Message, answers: str, findings: Findings, surfaces: Surfaces) -> None:
    method = _answered(message, answers, findings)
    result = message.value["result"]
    if type(result) is not dict or (method is not None and not method.is_request):
        return
    version = findings.context.version
    type_ = "Result" if method is None or method.result is None else method.result
    if version >= _ASKING:
        type_ = _type_asked_for(message, method, type_, findings)
    elif method is not None and method.needs_as_task is not None and "task" in result:
        type_ = "CreateTaskResult"
    check_value(result, type_, findings, surfaces, message.path + _RESULT)


def _type_asked_for(message: Message, method: Method | None, type_: str, findings: Findings) -> str:
    """Return the type of the result of *message*, by its own account; *type_* if complete."""
    result = message.value["result"]
    says = result.get("resultType")
    if says == "input_required":
        if method is not None and not method.may_ask:
            said = f"{method.name} is not answered by asking for input"
            at = ("result", "resultType")
            findings.tell(input_required.FORBIDDEN, message.path, Fault(at, said))
        return "InputRequiredResult"
    if isinstance(says, str) and says != "complete":
        return "Result"
    if method is not None and method.may_ask:
        # Who says nothing of the type, and asks, is told of that alone.
        asks = "inputRequests" in result or (says != "complete" and "requestState" in result)
        return "InputRequiredResult" if asks else type_
    return type_


def _judge_error(message: Message, answers: str, findings: Findings, surfaces: Surfaces) -> None:
    _answered(message, answers, findings)
    error = message.value["error"]
    at = message.path + _ERROR
    check_value(error, "Error", findings, surfaces, at)
    if type(error) is not dict or type(error.get("code")) is not int:
        return
    type_ = errors.DATA_TYPES.get((findings.context.version, error["code"]))
    if type_ is None:
        return
    if "data" in error:
        check_value(error["data"], type_, findings, surfaces, at + _DATA)
    else:
        said = f"expected data, which the code {error['code']} needs"
        findings.tell(errors.DATA_MISSING, at, Fault((), said, "data"))


def _answered(message: Message, answers: str, findings: Findings) -> Method | None:
    """Return the method that *message* answers, or None if it is not known."""
    if not answers:
        return None
    context = findings.context
    message.method = answers
    method = find_method(answers, context.version, _asker(context)) or find_method(
        answers, context.version
    )
    if method is not None and not method.is_request:
        said = f"{answers} is a notification, which is not answered"
        findings.tell(envelope.NOTIFICATION_ANSWERED, message.path, Fault((), said))
    return method


def _asker(context: Context) -> Sender | None:
    """Return who sent the request that is answered, if that is known."""
    if context.sender is None:
        return None
    return Sender.SERVER if context.sender is Sender.CLIENT else Sender.CLIENT
