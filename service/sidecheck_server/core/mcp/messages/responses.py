"""Checks responses: results by the method of their request, and errors by their code."""

import re
from typing import Any

from sidecheck_server.core.explain.values import count_noun
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.call_errors import METHOD_NOT_FOUND
from sidecheck_server.core.mcp.context import FIRST_STATELESS, Context, Sender
from sidecheck_server.core.mcp.definition_forms import protocol_form
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.envelopes import Message
from sidecheck_server.core.mcp.messages.method_checks import report_missing_list
from sidecheck_server.core.mcp.messages.requests import adopt_capabilities
from sidecheck_server.core.mcp.methods import PLAIN_PROPERTIES, Method, find_method
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, check_value
from sidecheck_server.core.mcp.rules import input_required, negotiation, responses, tasks
from sidecheck_server.core.mcp.rules import messages as message_rules
from sidecheck_server.core.mcp.rules.rule import Fault, Path
from sidecheck_server.core.payload import encode_json

__all__ = ["check_error", "check_result"]

_DATE = re.compile(rb"\d{4}-\d{2}-\d{2}")
#: The only method that may create a task of the extension (SEP-2663, supported methods).
_CREATES_TASKS = "tools/call"
_RESULT, _ERROR, _DATA = ("result",), ("error",), ("data",)


def check_result(
    message: Message, request_method: str, findings: Findings, schemas: SchemaLookup
) -> None:
    """Check the result of a request of *request_method*; "" if that is unknown."""
    method = _method_of_request(message, request_method, findings)
    result = message.value["result"]
    adopt_capabilities(findings.context.request, findings)
    if type(result) is not dict or (method is not None and not method.is_request):
        return
    version = findings.context.version
    type_ = "Result" if method is None or method.result is None else method.result
    if version >= FIRST_STATELESS:
        type_ = _declared_result_type(message, method, type_, findings)
    elif (
        method is not None
        and method.needs_as_task is not None
        and "task" in result
        and PLAIN_PROPERTIES[method.name] not in result
    ):
        type_ = "CreateTaskResult"
    if type_ == "EmptyResult":
        _report_data(message, result, findings)
    elif type_ == "ListToolsResult":
        result = _with_protocol_forms(result, findings, message.path + _RESULT)
    check_value(result, type_, findings, schemas, message.path + _RESULT)


def _report_data(message: Message, result: dict[str, Any], findings: Findings) -> None:
    """Report properties in the *result* of a method whose results are empty."""
    surplus = len(result) - ("_meta" in result)
    if surplus:
        rule = responses.EMPTY_RESULT_WITH_DATA
        if message.method == "ping":
            rule = responses.PING_RESULT_NOT_EMPTY
        properties = count_noun(surplus, "property")
        text = f"expected an empty result of {message.method}, found {properties}"
        findings.report(rule, message.path + _RESULT, Fault((), text))


def _with_protocol_forms(result: dict[str, Any], findings: Findings, path: Path) -> dict[str, Any]:
    """Return a ``tools/list`` result with its tools in the form of the protocol.

    What differs from it is one violation for all nulls of a tool and one for all names, as
    where a tools list is checked by itself.
    """
    tools = result.get("tools")
    if type(tools) is not list:
        return result
    version = findings.context.version
    forms = [protocol_form(tool, lenient=False, version=version) for tool in tools]
    for index, form in enumerate(forms):
        for rule, fault in form.faults(lenient=False):
            findings.report(rule, (*path, "tools", index), fault)
    return {**result, "tools": [form.value for form in forms]}


def _declared_result_type(
    message: Message, method: Method | None, type_: str, findings: Findings
) -> str:
    """Return the type of a result by its ``resultType``; *type_* if it is complete."""
    result = message.value["result"]
    declared = result.get("resultType")
    if declared == "input_required":
        if method is not None and not method.may_request_input:
            text = f"{method.name} must not be answered with a request for input"
            fault = Fault(("result", "resultType"), text)
            findings.report(input_required.FORBIDDEN, message.path, fault)
        return "InputRequiredResult"
    if method is not None and method.extension:
        return type_
    if declared == "task":
        return _created_task_type(message, method, findings)
    if isinstance(declared, str) and declared != "complete":
        return "Result"
    if method is not None and method.may_request_input:
        # A request for input without its type has only that fault.
        requests_input = "inputRequests" in result or (
            declared != "complete" and "requestState" in result
        )
        return "InputRequiredResult" if requests_input else type_
    return type_


def _created_task_type(message: Message, method: Method | None, findings: Findings) -> str:
    """Return the type of a result of the type "task", which the extension defines."""
    if method is None or method.name == _CREATES_TASKS:
        return "CreateTaskResult"
    text = f"{method.name} must not be answered with a task"
    fault = Fault(("result", "resultType"), text)
    findings.report(tasks.MISPLACED, message.path, fault)
    return "Result"


def check_error(
    message: Message, request_method: str, findings: Findings, schemas: SchemaLookup
) -> None:
    """Check the error response to a request of *request_method*; "" if that is unknown."""
    method = _method_of_request(message, request_method, findings)
    if method is not None:
        report_missing_list(method, message, findings)
    error = message.value["error"]
    path = message.path + _ERROR
    check_value(error, "Error", findings, schemas, path)
    if type(error) is not dict or type(error.get("code")) is not int:
        return
    if request_method == "initialize":
        _check_initialize_error(error, findings, path)
    type_ = responses.DATA_TYPES.get((findings.context.version, error["code"]))
    if type_ is None:
        return
    if "data" in error:
        check_value(error["data"], type_, findings, schemas, path + _DATA)
    else:
        text = f'missing required property "data" of errors with the code {error["code"]}'
        findings.report(responses.DATA_MISSING, path, Fault((), text, "data"))


def _check_initialize_error(error: dict[str, Any], findings: Findings, path: Path) -> None:
    """Report an error of a server without ``initialize`` that names no version."""
    rule = negotiation.INITIALIZE_ERROR_WITHOUT_VERSIONS
    if error["code"] == METHOD_NOT_FOUND and rule.holds_in(findings.context.version):
        text = encode_json(error)
        spend(findings.context.budget, len(text) // 8)
        if not _DATE.search(text):
            fault = Fault((), "expected the versions that the server supports, found none")
            findings.report(rule, path, fault)


def _method_of_request(message: Message, request_method: str, findings: Findings) -> Method | None:
    """Return the method of the request that *message* responds to, or None if unknown."""
    if not request_method:
        return None
    context = findings.context
    message.method = request_method
    method = find_method(request_method, context.version, _requester(context)) or find_method(
        request_method, context.version
    )
    if method is not None and not method.is_request:
        text = f"{request_method} is a notification, which has no response"
        findings.report(message_rules.NOTIFICATION_ANSWERED, message.path, Fault((), text))
    return method


def _requester(context: Context) -> Sender | None:
    """Return the sender of the request that a response belongs to, or None if unknown."""
    return None if context.sender is None else context.sender.peer
