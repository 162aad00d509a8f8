"""Checks messages and batches: first the envelope, then the contents.

The method of a request or notification determines the check of its contents; for a result it is
the method of the request, and for an error the code.
"""

import re
from dataclasses import replace
from typing import Any

from sidecheck_server.core.explain.values import count_noun
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.call_errors import METHOD_NOT_FOUND
from sidecheck_server.core.mcp.context import FIRST_STATELESS, Context, Sender
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message, read_message
from sidecheck_server.core.mcp.messages.method_checks import (
    check_capabilities,
    report_missing_list,
    report_unknown_method,
)
from sidecheck_server.core.mcp.methods import PLAIN_PROPERTIES, Method, find_method
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, check_value
from sidecheck_server.core.mcp.rules import input_required, negotiation, responses, tasks
from sidecheck_server.core.mcp.rules import messages as message_rules
from sidecheck_server.core.mcp.rules.capabilities import read_client_capabilities
from sidecheck_server.core.mcp.rules.rule import Fault, Path
from sidecheck_server.core.mcp.tool_definitions import protocol_form
from sidecheck_server.core.payload import encode_json

__all__ = ["check_messages"]

# Access to a member of an enumeration takes longer than a comparison.
_REQUEST, _NOTIFICATION, _RESULT_KIND, _ERROR_KIND = (
    Kind.REQUEST,
    Kind.NOTIFICATION,
    Kind.RESULT,
    Kind.ERROR,
)
#: The only version with batches.
_BATCH_VERSION = "2025-03-26"
_MESSAGE_STEPS = 100

_RESPONSES = (Kind.RESULT, Kind.ERROR)


def check_messages(
    value: Any,
    request_method: str,
    findings: Findings,
    schemas: SchemaLookup,
    *,
    item_methods: tuple[str, ...] = (),
) -> tuple[Message, ...]:
    """Check *value*, a message or a batch, and return its messages.

    Violations are added to *findings*. For a response, *request_method* is the method of its
    request, or ""; *item_methods* are the same for the first messages of a batch.

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of a type is not compiled yet.
    """
    if type(value) is list:
        methods = (*item_methods, *[request_method] * (len(value) - len(item_methods)))
        return _check_batch(value, methods, findings, schemas)
    spend(findings.context.budget, _MESSAGE_STEPS)
    message = read_message(value, (), findings)
    _check_contents(message, request_method, findings, schemas)
    return (message,)


def _check_batch(
    value: list[Any], request_methods: tuple[str, ...], findings: Findings, schemas: SchemaLookup
) -> tuple[Message, ...]:
    version = findings.context.version
    if version != _BATCH_VERSION:
        text = f"expected one message, found an array of {count_noun(len(value), 'item')}"
        findings.report(message_rules.BATCH_UNSUPPORTED, (), Fault((), text))
        return (Message(Kind.BROKEN, (), value),)
    if not value:
        findings.report(message_rules.BATCH_EMPTY, (), Fault((), "expected messages, found none"))
        return (Message(Kind.BROKEN, (), value),)
    spend(findings.context.budget, _MESSAGE_STEPS * len(value))
    messages = tuple(read_message(item, (index,), findings) for index, item in enumerate(value))
    _report_mixed_batch(messages, findings)
    for message, request_method in zip(messages, request_methods, strict=True):
        if message.kind is not Kind.BROKEN:
            if message.method == "initialize":
                text = "initialize must not be part of a batch"
                findings.report(
                    message_rules.BATCH_INITIALIZE, message.path, Fault(("method",), text)
                )
            _check_contents(message, request_method, findings, schemas)
    return messages


def _report_mixed_batch(messages: tuple[Message, ...], findings: Findings) -> None:
    """Report the first message that must not be in a batch with the previous ones."""
    readable = [message for message in messages if message.kind is not Kind.BROKEN]
    for message in readable:
        if (message.kind in _RESPONSES) is not (readable[0].kind in _RESPONSES):
            kind = "a response" if message.kind in _RESPONSES else f"a {message.kind}"
            expected = (
                "responses" if readable[0].kind in _RESPONSES else "requests and notifications"
            )
            text = f"expected only {expected} in this batch, found {kind}"
            findings.report(message_rules.BATCH_MIXED, message.path, Fault((), text))
            return


def _check_contents(
    message: Message, request_method: str, findings: Findings, schemas: SchemaLookup
) -> None:
    """Add to *findings* the violations of the contents of *message*."""
    kind = message.kind
    if kind is _REQUEST or kind is _NOTIFICATION:
        _check_request(message, findings, schemas)
        return
    if kind in _RESPONSES and _must_not_respond(findings.context):
        text = "expected a request or a notification of the client, found a response"
        findings.report(message_rules.CLIENT_RESPONSE, message.path, Fault((), text))
    if kind is _RESULT_KIND:
        _check_result(message, request_method, findings, schemas)
    elif kind is _ERROR_KIND:
        _check_error(message, request_method, findings, schemas)


def _must_not_respond(context: Context) -> bool:
    """Return whether the sender is a client in a version without server requests."""
    return context.sender is Sender.CLIENT and message_rules.CLIENT_RESPONSE.holds_in(
        context.version
    )


#: Method and property of input for a task of the extension, which is not a retry.
_TASK_INPUT = ("tasks/update", "inputResponses")
_PARAMS = ("params",)


def _check_request(message: Message, findings: Findings, schemas: SchemaLookup) -> None:
    """Check a request or a notification."""
    _apply_declared_capabilities(message.value.get("params"), findings)
    context = findings.context
    name, value = message.method, message.value
    method = find_method(name, context.version, context.sender)
    if method is None:
        if not report_unknown_method(message, findings):
            return
        # The other side may have a method of this name, whose params apply.
        method = find_method(name, context.version)
    else:
        check_capabilities(method, message, findings)
    if method is None:
        is_request = message.kind is _REQUEST
        type_ = "RequestParams" if is_request else "NotificationParams"
        if is_request and "params" not in value and _needs_meta(name, context):
            text = 'missing required property "params": every request has a _meta'
            findings.report(message_rules.PARAMS_MISSING, message.path, Fault((), text, "params"))
    else:
        type_ = method.params
        if method.is_request and message.kind is _NOTIFICATION:
            text = f'missing required property "id": {name} is a request'
            findings.report(message_rules.REQUEST_WITHOUT_ID, message.path, Fault((), text, "id"))
        if method.params_required and "params" not in value:
            text = f'missing required property "params" of {name}'
            findings.report(message_rules.PARAMS_MISSING, message.path, Fault((), text, "params"))
    params = value.get("params")
    if type(params) is dict:
        check_value(params, type_, findings, schemas, message.path + _PARAMS)
        if (
            method is not None
            and not method.may_request_input
            and context.version >= FIRST_STATELESS
        ):
            _report_misplaced_retry(message, params, findings)


def _apply_declared_capabilities(params: Any, findings: Findings) -> None:
    """Set the client's capabilities in the context to those that *params* declare.

    Since 2026-07-28 each request declares the capabilities for itself and its response.
    """
    context = findings.context
    if context.version < FIRST_STATELESS:
        return
    declared = read_client_capabilities(params)
    if declared is not None and declared != context.client_capabilities:
        findings.context = replace(context, client_capabilities=declared)


def _needs_meta(method: str, context: Context) -> bool:
    """Return whether a request of the unknown *method* must have a `_meta`.

    Other rules report a request of the server, and a notification with an id.
    """
    return (
        context.version >= FIRST_STATELESS
        and context.sender is not Sender.SERVER
        and not method.startswith("notifications/")
    )


def _report_misplaced_retry(message: Message, params: dict[str, Any], findings: Findings) -> None:
    """Report properties of a retry in a request that is never retried."""
    for name in ("inputResponses", "requestState"):
        if name in params and (message.method, name) != _TASK_INPUT:
            text = f"{message.method} never requests input, so it must have no {name}"
            fault = Fault(("params", name), text)
            findings.report(input_required.RETRY_MISPLACED, message.path, fault)


_DATE = re.compile(rb"\d{4}-\d{2}-\d{2}")
#: The only method that may create a task of the extension (SEP-2663, supported methods).
_CREATES_TASKS = "tools/call"
_RESULT, _ERROR, _DATA = ("result",), ("error",), ("data",)


def _check_result(
    message: Message, request_method: str, findings: Findings, schemas: SchemaLookup
) -> None:
    """Check the result of a request of *request_method*, "" if unknown."""
    method = _find_request_method(message, request_method, findings)
    result = message.value["result"]
    _apply_declared_capabilities(findings.context.request, findings)
    if type(result) is not dict or (method is not None and not method.is_request):
        return
    version = findings.context.version
    type_ = "Result" if method is None or method.result is None else method.result
    if version >= FIRST_STATELESS:
        type_ = _select_result_type(message, method, type_, findings)
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
        result = _apply_protocol_forms(result, findings, message.path + _RESULT)
    check_value(result, type_, findings, schemas, message.path + _RESULT)


def _report_data(message: Message, result: dict[str, Any], findings: Findings) -> None:
    """Report properties in the *result* of a method whose results are empty."""
    property_count = len(result) - ("_meta" in result)
    if property_count:
        rule = responses.EMPTY_RESULT_WITH_DATA
        if message.method == "ping":
            rule = responses.PING_RESULT_NOT_EMPTY
        properties = count_noun(property_count, "property")
        text = f"expected an empty result of {message.method}, found {properties}"
        findings.report(rule, message.path + _RESULT, Fault((), text))


def _apply_protocol_forms(result: dict[str, Any], findings: Findings, path: Path) -> dict[str, Any]:
    """Return a ``tools/list`` result with its tools in the form of the protocol.

    As in the check of a tools list alone, a tool has one violation for all nulls and one for
    all snake-case names.
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


def _select_result_type(
    message: Message, method: Method | None, type_: str, findings: Findings
) -> str:
    """Return the type of a result by its ``resultType``; *type_* for "complete"."""
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
        return _select_task_result_type(message, method, findings)
    if isinstance(declared, str) and declared != "complete":
        return "Result"
    if method is not None and method.may_request_input:
        # A request for input whose resultType is missing gets no violations for missing content.
        requests_input = "inputRequests" in result or (
            declared != "complete" and "requestState" in result
        )
        return "InputRequiredResult" if requests_input else type_
    return type_


def _select_task_result_type(message: Message, method: Method | None, findings: Findings) -> str:
    """Return the type of a result with the ``resultType`` "task" of the extension."""
    if method is None or method.name == _CREATES_TASKS:
        return "CreateTaskResult"
    text = f"{method.name} must not be answered with a task"
    fault = Fault(("result", "resultType"), text)
    findings.report(tasks.MISPLACED, message.path, fault)
    return "Result"


def _check_error(
    message: Message, request_method: str, findings: Findings, schemas: SchemaLookup
) -> None:
    """Check the error response to a request of *request_method*, "" if unknown."""
    method = _find_request_method(message, request_method, findings)
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
    """Report an error to ``initialize`` without the versions that the server supports."""
    rule = negotiation.INITIALIZE_ERROR_WITHOUT_VERSIONS
    if error["code"] == METHOD_NOT_FOUND and rule.holds_in(findings.context.version):
        text = encode_json(error)
        spend(findings.context.budget, len(text) // 8)
        if not _DATE.search(text):
            fault = Fault((), "expected the versions that the server supports, found none")
            findings.report(rule, path, fault)


def _find_request_method(
    message: Message, request_method: str, findings: Findings
) -> Method | None:
    """Return the method that *message* responds to, or None; store and check its name."""
    if not request_method:
        return None
    context = findings.context
    message.method = request_method
    requester = None if context.sender is None else context.sender.peer
    method = find_method(request_method, context.version, requester) or find_method(
        request_method, context.version
    )
    if method is not None and not method.is_request:
        text = f"{request_method} is a notification, which has no response"
        findings.report(message_rules.NOTIFICATION_ANSWERED, message.path, Fault((), text))
    return method
