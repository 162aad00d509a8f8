"""Checks requests and notifications: method, params and what they declare."""

from dataclasses import replace
from typing import Any

from sidecheck_server.core.mcp.context import FIRST_STATELESS, Context, Sender
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message
from sidecheck_server.core.mcp.messages.method_checks import (
    check_capabilities,
    report_unknown_method,
)
from sidecheck_server.core.mcp.methods import find_method
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, check_value
from sidecheck_server.core.mcp.rules import input_required
from sidecheck_server.core.mcp.rules import messages as message_rules
from sidecheck_server.core.mcp.rules.capabilities import declared_in
from sidecheck_server.core.mcp.rules.rule import Fault

__all__ = ["adopt_capabilities", "check_request"]

#: Input for a task of the extension, in no retry.
_TASK_INPUT = ("tasks/update", "inputResponses")
_PARAMS = ("params",)
# Attribute access on an enumeration takes longer than comparing.
_REQUEST, _NOTIFICATION = Kind.REQUEST, Kind.NOTIFICATION


def check_request(message: Message, findings: Findings, schemas: SchemaLookup) -> None:
    """Check a request or a notification."""
    adopt_capabilities(message.value.get("params"), findings)
    context = findings.context
    name, value = message.method, message.value
    method = find_method(name, context.version, context.sender)
    if method is None:
        if not report_unknown_method(message, findings):
            return
        # Its params may be those of the other side's method of that name.
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


def adopt_capabilities(params: Any, findings: Findings) -> None:
    """Let the capabilities apply that the request with *params* declares itself.

    Since 2026-07-28 they hold for that request and its response, whatever others declare.
    """
    context = findings.context
    if context.version < FIRST_STATELESS:
        return
    declared = declared_in(params)
    if declared is not None and declared != context.client_capabilities:
        findings.context = replace(context, client_capabilities=declared)


def _needs_meta(method: str, context: Context) -> bool:
    """Return whether a request of the unknown *method* must have a `_meta`.

    A request of the server, or a notification with an id, has another fault.
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
