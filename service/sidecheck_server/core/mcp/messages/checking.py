"""Checking messages: their envelopes, and then what is in them."""

from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import counted
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.messages.judging import judge_message
from sidecheck_server.core.mcp.messages.message import Kind, Message
from sidecheck_server.core.mcp.messages.reading import read_message
from sidecheck_server.core.mcp.protocol_schemas import Surfaces
from sidecheck_server.core.mcp.rules import envelope
from sidecheck_server.core.mcp.rules.rule import Fault

__all__ = ["check_messages"]

_BATCHES = "2025-03-26"
_RESPONSES = (Kind.RESULT, Kind.ERROR)
# In steps.
_MESSAGE = 100


def check_messages(
    value: Any, answers: str, findings: Findings, surfaces: Surfaces
) -> tuple[Message, ...]:
    """Add to *findings* what is wrong with *value*, a message or a batch, and return its messages.

    *answers* is the method of the request that a response answers, or "".

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of a type is not there yet.
    """
    if type(value) is list:
        return _batch(value, answers, findings, surfaces)
    spend(findings.context.budget, _MESSAGE)
    message = read_message(value, (), findings)
    judge_message(message, answers, findings, surfaces)
    return (message,)


def _batch(
    value: list[Any], answers: str, findings: Findings, surfaces: Surfaces
) -> tuple[Message, ...]:
    version = findings.context.version
    if version != _BATCHES:
        said = f"expected one message, found an array of {counted(len(value), 'item')}"
        findings.tell(envelope.BATCH_UNSUPPORTED, (), Fault((), said))
        return (Message(Kind.BROKEN, (), value),)
    if not value:
        findings.tell(envelope.BATCH_EMPTY, (), Fault((), "expected messages, found none"))
        return (Message(Kind.BROKEN, (), value),)
    spend(findings.context.budget, _MESSAGE * len(value))
    messages = tuple(read_message(each, (index,), findings) for index, each in enumerate(value))
    _tell_mixed(messages, findings)
    for message in messages:
        if message.kind is not Kind.BROKEN:
            if message.method == "initialize":
                said = "initialize comes before any batch, alone"
                findings.tell(envelope.BATCH_INITIALIZE, message.path, Fault(("method",), said))
            judge_message(message, answers, findings, surfaces)
    return messages


def _tell_mixed(messages: tuple[Message, ...], findings: Findings) -> None:
    """Tell of the first message that does not go with those before it."""
    told = [message for message in messages if message.kind is not Kind.BROKEN]
    for message in told:
        if (message.kind in _RESPONSES) is not (told[0].kind in _RESPONSES):
            found = "a response" if message.kind in _RESPONSES else f"a {message.kind}"
            others = "responses" if told[0].kind in _RESPONSES else "requests and notifications"
            said = f"expected only {others} in this batch, found {found}"
            findings.tell(envelope.BATCH_MIXED, message.path, Fault((), said))
            return
