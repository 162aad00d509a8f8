"""From values to the messages of requests to the service of the protocol."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from sidecheck.checks import (
    CheckItem,
    CheckOptions,
    Elicitation,
    ElicitationResult,
    ProtocolContext,
    ProtocolJson,
    ProtocolMessage,
    Sampling,
    ToolResult,
)
from sidecheck.targets import Document, ToolDefinition, ToolJson
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.wire import rpcs
from sidecheck.wire.requests import documents, inline_tool, payload_text, target

__all__ = [
    "batch_item",
    "batch_request",
    "check_request",
    "names_request",
    "protocol_text",
    "rules_request",
    "session_defaults",
    "session_item",
    "tools_request",
]

#: The procedures that check one thing, by what their requests call it.
CHECKS: Final[Mapping[str, rpcs.Rpc[Any, Any]]] = {
    "elicitation": rpcs.CHECK_ELICITATION,
    "elicitation_result": rpcs.CHECK_ELICITATION_RESULT,
    "sampling": rpcs.CHECK_SAMPLING,
    "tool_result": rpcs.CHECK_TOOL_RESULT,
    "message": rpcs.CHECK_MESSAGE,
}

SENDERS: Final = {
    "": "SENDER_UNSPECIFIED",
    "client": "SENDER_CLIENT",
    "server": "SENDER_SERVER",
}
PROFILES: Final = {
    "specification": "RESULT_PROFILE_SPECIFICATION",
    "text": "RESULT_PROFILE_TEXT",
}


def label(field: str, value: str, labels: Mapping[str, str]) -> str:
    """Return the label on the wire of *value*.

    Raises:
        ValueError: It is none of those that *field* may have.
    """
    if value not in labels:
        known = ", ".join(map(repr, labels))
        raise ValueError(f"the {field} is one of {known}, not {value!r}")
    return labels[value]


def protocol_text(json: ProtocolJson) -> bytes:
    """Return the JSON text of *json*.

    Raises:
        TypeError: It holds what JSON cannot express.
        ValueError: It holds NaN, an infinity, a lone surrogate or itself.
    """
    return json.encode() if isinstance(json, str) else payload_text(json)


def known_text(json: ProtocolJson | None) -> bytes:
    """Return the JSON text of *json*, b"" if it is not known; raises as `protocol_text`."""
    return b"" if json is None else protocol_text(json)


def context(peers: ProtocolContext | None) -> protocol_pb.ProtocolContext | None:
    """Translate what is known of the peers; none stays none."""
    if peers is None:
        return None
    if not isinstance(peers, ProtocolContext):
        raise TypeError(f"what is known of the peers is a Peers, not a {type(peers).__name__}")
    client, server = peers.client_capabilities, peers.server_capabilities
    return protocol_pb.ProtocolContext(
        protocol_version=peers.protocol_version,
        client_capabilities=None if client is None else protocol_text(client),
        server_capabilities=None if server is None else protocol_text(server),
    )


def options(value: CheckOptions | None) -> protocol_pb.CheckOptions | None:
    """Translate options; none stays none, and means the server's defaults."""
    if value is None:
        return None
    return protocol_pb.CheckOptions(
        max_violations=value.max_violations,
        hide_values=value.hide_values,
        min_severity=f"SEVERITY_{value.min_severity.upper()}",
    )


def rules_request(protocol_version: str, page_token: str) -> protocol_pb.ListRulesRequest:
    """Return the request for the page of rules that *page_token* stands for."""
    return protocol_pb.ListRulesRequest(protocol_version=protocol_version, page_token=page_token)


def names_request(
    names: Iterable[str], peers: ProtocolContext | None, how: CheckOptions | None
) -> protocol_pb.CheckToolNamesRequest:
    """Return the request to check names."""
    return protocol_pb.CheckToolNamesRequest(
        context=context(peers), options=options(how), names=names
    )


def tools_request(
    tools: bytes | str | Mapping[str, object] | Iterable[ToolDefinition | ToolJson],
    given: Iterable[Document],
    peers: ProtocolContext | None,
    how: CheckOptions | None,
) -> protocol_pb.CheckToolsRequest:
    """Return the request to check a listing, or definitions given one by one.

    Raises:
        ValueError: Documents come with definitions that are given one by one.
    """
    request = protocol_pb.CheckToolsRequest(context=context(peers), options=options(how))
    if isinstance(tools, bytes | str | Mapping):
        request.tools_list = protocol_text(tools)
        request.documents.extend(documents(given))
        return request
    if any(True for _ in given):
        raise ValueError("a ToolDefinition brings its own documents; these come with a listing")
    request.tools.extend(inline_tool(tool) for tool in tools)
    return request


def message(value: ProtocolMessage) -> protocol_pb.ProtocolMessage:
    """Translate a message of the protocol."""
    return protocol_pb.ProtocolMessage(
        json=protocol_text(value.message),
        sender=label("sender", value.sender, SENDERS),
        request_method=value.answers,
        request=known_text(value.request),
    )


def named(value: CheckItem) -> tuple[str, Any]:
    """Return what requests call a thing to check, and the message that it becomes."""
    match value:
        case Elicitation(params):
            return "elicitation", protocol_pb.Elicitation(params=protocol_text(params))
        case ElicitationResult(result, params):
            return "elicitation_result", protocol_pb.ElicitationResult(
                result=protocol_text(result), params=known_text(params)
            )
        case Sampling(params):
            return "sampling", protocol_pb.Sampling(params=protocol_text(params))
        case ToolResult(result, profile, tool):
            return "tool_result", protocol_pb.ToolResult(
                json=protocol_text(result),
                profile=label("profile", profile, PROFILES),
                tool=target(tool),
            )
        case ProtocolMessage():
            return "message", message(value)
    raise TypeError(
        f"a {type(value).__name__} is nothing to check; give a ProtocolMessage, for example"
    )


def check_request(
    value: CheckItem, peers: ProtocolContext | None, how: CheckOptions | None
) -> tuple[rpcs.Rpc[Any, Any], Message]:
    """Return the procedure that checks *value*, and the request to it."""
    name, translated = named(value)
    rpc = CHECKS[name]
    request = rpc.request(context=context(peers), options=options(how), **{name: translated})
    return rpc, request


def batch_item(value: CheckItem) -> protocol_pb.CheckItem:
    """Translate one thing of many."""
    name, translated = named(value)
    return protocol_pb.CheckItem(**{name: translated})


def batch_request(
    items: Sequence[protocol_pb.CheckItem], peers: ProtocolContext | None, how: CheckOptions | None
) -> protocol_pb.CheckBatchRequest:
    """Return the request to check many things."""
    return protocol_pb.CheckBatchRequest(context=context(peers), options=options(how), items=items)


def session_defaults(
    peers: ProtocolContext | None, how: CheckOptions | None
) -> protocol_pb.CheckSessionRequest:
    """Return the first message of a stream about a session."""
    return protocol_pb.CheckSessionRequest(
        defaults=protocol_pb.SessionDefaults(context=context(peers), options=options(how))
    )


def session_item(id_: str, value: ProtocolMessage | None) -> protocol_pb.CheckSessionRequest:
    """Return the message for one message of a session, with nothing but its id if it is none."""
    return protocol_pb.CheckSessionRequest(
        item=protocol_pb.SessionItem(id=id_, message=None if value is None else message(value))
    )
