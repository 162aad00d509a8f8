"""Messages of ProtocolService."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from google.protobuf.message import Message

from sidecheck.json_texts import protocol_text
from sidecheck.json_types import JsonText
from sidecheck.protocol import (
    CheckItem,
    CheckOptions,
    CheckOutcome,
    CheckResult,
    Elicitation,
    ElicitationResult,
    ProtocolContext,
    ProtocolJson,
    ProtocolMessage,
    RepeatedViolation,
    Rule,
    Sampling,
    SessionMessage,
    SessionSummary,
    ToolResult,
)
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.values.verdict import Severity
from sidecheck.wire.decoders.verdict import decode_severity, decode_verdict
from sidecheck.wire.errors import decode_item_error, require_field
from sidecheck.wire.values import copy_fields, encode_target, find_label

__all__ = [
    "PROFILES",
    "decode_batch",
    "decode_response",
    "decode_rules",
    "decode_session_response",
    "decode_session_summary",
    "encode_batch",
    "encode_check",
    "encode_context",
    "encode_item",
    "encode_options",
    "encode_rules",
    "encode_session_defaults",
    "encode_session_item",
    "name_item",
]

#: Requests that check one item, by the name of the field for the item.
CHECK_REQUESTS: Final[Mapping[str, Any]] = {
    "elicitation": protocol_pb.CheckElicitationRequest,
    "elicitation_result": protocol_pb.CheckElicitationResultRequest,
    "sampling": protocol_pb.CheckSamplingRequest,
    "tool_result": protocol_pb.CheckToolResultRequest,
    "message": protocol_pb.CheckMessageRequest,
}

#: Responses with the result of one check.
CheckResponse: TypeAlias = (
    protocol_pb.CheckElicitationResponse
    | protocol_pb.CheckElicitationResultResponse
    | protocol_pb.CheckSamplingResponse
    | protocol_pb.CheckToolResultResponse
    | protocol_pb.CheckMessageResponse
)

SENDERS: Final = {
    "": "SENDER_UNSPECIFIED",
    "client": "SENDER_CLIENT",
    "server": "SENDER_SERVER",
}
SEVERITIES: Final = {str(severity): f"SEVERITY_{severity.name}" for severity in Severity}
PROFILES: Final = {
    "specification": "RESULT_PROFILE_SPECIFICATION",
    "text": "RESULT_PROFILE_TEXT",
}


# Encoding


def optional_text(value: ProtocolJson | None, name: str) -> bytes | None:
    """Return the JSON text of *value*, or None for None; raises as `protocol_text`."""
    return None if value is None else protocol_text(value, name)


def encode_context(context: ProtocolContext | None) -> protocol_pb.ProtocolContext | None:
    """Return the message for *context*; None stays None."""
    if context is None:
        return None
    return protocol_pb.ProtocolContext(
        protocol_version=context.protocol_version,
        client_capabilities=optional_text(context.client_capabilities, "client_capabilities"),
        server_capabilities=optional_text(context.server_capabilities, "server_capabilities"),
    )


def encode_options(options: CheckOptions | None) -> protocol_pb.CheckOptions | None:
    """Return the message for *options*; None stays None, for the server's defaults.

    Raises:
        TypeError: *options* are not `CheckOptions`.
        ValueError: the severity is unknown.
    """
    if options is None:
        return None
    if not isinstance(options, CheckOptions):
        raise TypeError(f"options must be CheckOptions, not {type(options).__name__}")
    return protocol_pb.CheckOptions(
        max_violations=options.max_violations,
        hide_values=options.hide_values,
        min_severity=find_label("min_severity", options.min_severity, SEVERITIES),
    )


def encode_rules(protocol_version: str, page_token: str) -> protocol_pb.ListRulesRequest:
    """Return the request for a page of rules."""
    return protocol_pb.ListRulesRequest(protocol_version=protocol_version, page_token=page_token)


def name_item(item: CheckItem) -> tuple[str, Any]:
    """Return the name of the field for *item* in requests, and its message."""
    match item:
        case Elicitation(params):
            return "elicitation", protocol_pb.Elicitation(params=protocol_text(params, "params"))
        case ElicitationResult(result, params):
            return "elicitation_result", protocol_pb.ElicitationResult(
                result=protocol_text(result, "result"), params=optional_text(params, "params")
            )
        case Sampling(params):
            return "sampling", protocol_pb.Sampling(params=protocol_text(params, "params"))
        case ToolResult(result, profile, tool):
            return "tool_result", protocol_pb.ToolResult(
                json=protocol_text(result, "result"),
                profile=find_label("profile", profile, PROFILES),
                tool=encode_target(tool),
            )
        case ProtocolMessage():
            return "message", encode_message(item)
    raise TypeError(f"cannot check a {type(item).__name__}; pass a ProtocolMessage, for example")


def encode_message(message: ProtocolMessage) -> protocol_pb.ProtocolMessage:
    """Return the message for a JSON-RPC message."""
    return protocol_pb.ProtocolMessage(
        json=protocol_text(message.message, "message"),
        sender=find_label("sender", message.sender, SENDERS),
        request_method=message.request_method,
        request=optional_text(message.request, "request"),
    )


def encode_check(
    item: CheckItem, context: ProtocolContext | None, options: CheckOptions | None
) -> Message:
    """Return the request to check *item*, of the class for its kind."""
    name, message = name_item(item)
    request: Message = CHECK_REQUESTS[name](
        context=encode_context(context), options=encode_options(options), **{name: message}
    )
    return request


def encode_item(item: CheckItem) -> protocol_pb.CheckItem:
    """Return the message for an item of a batch."""
    name, message = name_item(item)
    return protocol_pb.CheckItem(**{name: message})


def encode_batch(
    items: Sequence[protocol_pb.CheckItem],
    context: ProtocolContext | None,
    options: CheckOptions | None,
) -> protocol_pb.CheckBatchRequest:
    """Return the request to check *items*."""
    return protocol_pb.CheckBatchRequest(
        context=encode_context(context), options=encode_options(options), items=items
    )


def encode_session_defaults(
    context: ProtocolContext | None, options: CheckOptions | None, *, from_beginning: bool
) -> protocol_pb.CheckSessionRequest:
    """Return the first message of a session."""
    return protocol_pb.CheckSessionRequest(
        defaults=protocol_pb.SessionDefaults(
            context=encode_context(context),
            options=encode_options(options),
            from_beginning=from_beginning,
        )
    )


def encode_session_item(id_: str, item: SessionMessage | None) -> protocol_pb.CheckSessionRequest:
    """Return the message for *item* of a session, or with its id only."""
    if item is None:
        return protocol_pb.CheckSessionRequest(item=protocol_pb.SessionItem(id=id_))
    return protocol_pb.CheckSessionRequest(
        item=protocol_pb.SessionItem(
            id=id_, message=encode_message(item.message), http_status=item.http_status
        )
    )


# Decoding


def decode_rules(response: protocol_pb.ListRulesResponse) -> tuple[list[Rule], str]:
    """Return the rules of a page and the token of the next page, "" after the last."""
    rules = [
        copy_fields(
            rule,
            Rule,
            severity=decode_severity(rule.severity),
            protocol_versions=tuple(rule.protocol_versions),
            subjects=tuple(rule.subjects),
        )
        for rule in response.rules
    ]
    return rules, response.next_page_token


def decode_response(response: CheckResponse) -> CheckResult:
    """Return the result of one check."""
    return decode_result(require_field(response, "result"))


def decode_result(message: protocol_pb.CheckResult) -> CheckResult:
    """Return the check result in *message*."""
    return CheckResult(
        verdict=decode_verdict(require_field(message, "verdict")),
        error_response=JsonText(message.error_response),
    )


def decode_batch(response: protocol_pb.CheckBatchResponse) -> list[CheckOutcome]:
    """Return the outcomes of a batch, in order."""
    return [decode_outcome(outcome) for outcome in response.outcomes]


def decode_session_response(
    response: protocol_pb.CheckSessionResponse,
) -> tuple[str, CheckOutcome]:
    """Return the id of a message, "" if the server could not read it, and its outcome."""
    return response.id, decode_outcome(response.outcome)


def decode_session_summary(response: protocol_pb.CheckSessionResponse) -> SessionSummary | None:
    """Return the summary in *response*, or None for a response to a message."""
    if not response.HasField("summary"):
        return None
    return SessionSummary(
        repeated_violations=tuple(
            copy_fields(repeated, RepeatedViolation)
            for repeated in response.summary.repeated_violations
        )
    )


def decode_outcome(outcome: protocol_pb.CheckOutcome) -> CheckOutcome:
    """Return the check result or error of one item."""
    if outcome.HasField("result"):
        return decode_result(outcome.result)
    return decode_item_error(outcome.error)
