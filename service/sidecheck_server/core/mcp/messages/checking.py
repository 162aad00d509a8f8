"""Checks messages and batches: the envelope, then the contents by the kind of message."""

from typing import Any

from sidecheck_server.core.explain.values import count_noun
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message, read_message
from sidecheck_server.core.mcp.messages.requests import check_request
from sidecheck_server.core.mcp.messages.responses import check_error, check_result
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup
from sidecheck_server.core.mcp.rules import messages as message_rules
from sidecheck_server.core.mcp.rules.rule import Fault

__all__ = ["check_messages"]

#: The only version with batches.
_BATCHES = "2025-03-26"
_MESSAGE_STEPS = 100

# Attribute access on an enumeration takes longer than comparing.
_REQUEST, _NOTIFICATION, _RESULT_KIND, _ERROR_KIND = (
    Kind.REQUEST,
    Kind.NOTIFICATION,
    Kind.RESULT,
    Kind.ERROR,
)
_RESPONSES = (Kind.RESULT, Kind.ERROR)


def check_messages(
    value: Any,
    request_method: str,
    findings: Findings,
    schemas: SchemaLookup,
    *,
    item_methods: tuple[str, ...] = (),
) -> tuple[Message, ...]:
    """Add to *findings* the violations of *value*, a message or a batch; return the messages.

    *request_method* is the method of the request that a response belongs to, or "", and
    *item_methods* are those of the first messages of a batch.

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
    if version != _BATCHES:
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
    """Report the first message that may not be in a batch with those before it."""
    readable = [message for message in messages if message.kind is not Kind.BROKEN]
    for message in readable:
        if (message.kind in _RESPONSES) is not (readable[0].kind in _RESPONSES):
            found = "a response" if message.kind in _RESPONSES else f"a {message.kind}"
            expected = (
                "responses" if readable[0].kind in _RESPONSES else "requests and notifications"
            )
            text = f"expected only {expected} in this batch, found {found}"
            findings.report(message_rules.BATCH_MIXED, message.path, Fault((), text))
            return


def _check_contents(
    message: Message, request_method: str, findings: Findings, schemas: SchemaLookup
) -> None:
    """Add to *findings* the violations of the contents of *message*."""
    kind = message.kind
    if kind is _REQUEST or kind is _NOTIFICATION:
        check_request(message, findings, schemas)
        return
    if kind in _RESPONSES and _may_not_respond(findings.context):
        text = "expected a request or a notification of the client, found a response"
        findings.report(message_rules.CLIENT_RESPONSE, message.path, Fault((), text))
    if kind is _RESULT_KIND:
        check_result(message, request_method, findings, schemas)
    elif kind is _ERROR_KIND:
        check_error(message, request_method, findings, schemas)


def _may_not_respond(context: Context) -> bool:
    """Return whether the sender is a client, and servers send no requests."""
    return context.sender is Sender.CLIENT and message_rules.CLIENT_RESPONSE.holds_in(
        context.version
    )
