"""JSON-RPC error responses to messages that have errors."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sidecheck_server.core.mcp.call_errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    error_message,
    violations_data,
)
from sidecheck_server.core.mcp.context import FIRST_STATELESS, VERSIONS
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message
from sidecheck_server.core.mcp.metadata_keys import PROTOCOL_VERSION_KEY, read_metadata
from sidecheck_server.core.mcp.rules import messages as message_rules
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.types import Severity, Verdict, Violation

__all__ = ["build_error_response"]

_MAX_VIOLATIONS = 20
"""Largest number of violations in the data of an error."""

#: First version in which an error response may lack the id; earlier ones have null.
_OPTIONAL_ID_SINCE = "2025-11-25"
_MAX_VERSION_CHARACTERS = 64
_RESPONSE_KEYS = frozenset({"result", "error"})

_ENVELOPE_CODES = frozenset(rule.code for rule in message_rules.ENVELOPE_RULES)
_METHOD_CODES = frozenset(
    {
        message_rules.SERVER_REQUEST.code,
        message_rules.NOT_IN_VERSION.code,
        message_rules.WRONG_SENDER.code,
        "CAPABILITY_UNDECLARED",
        "EXTENSION_UNDECLARED",
        "TASK_CAPABILITY_UNDECLARED",
    }
)


def build_error_response(
    messages: Sequence[Message], verdict: Verdict, version: str, *, hide_values: bool = False
) -> bytes:
    """Return the error response to *messages*, as JSON text, or b"" without one.

    Each request with an error in *verdict* gets an error response, and so does a text that is
    not JSON and has no messages. Notifications and responses never get one. For a batch the
    text is an array of responses.

    The ``data`` of an error list its first violations, ``{"violations": [{"code",
    "pointer", "message"}]}``, with pointers into the request, and ``truncated`` if there are
    more. With *hide_values* the response repeats only the id and values that the protocol
    defines.
    """
    errors = [violation for violation in verdict.violations if violation.severity is Severity.ERROR]
    if not errors:
        return b""
    if not messages:
        is_not_json = any(error.code == "PAYLOAD_NOT_JSON" for error in errors)
        code = PARSE_ERROR if is_not_json else INVALID_REQUEST
        return _encode(_build_response(code, None, errors[0], errors, version))
    if messages[0].path == ():
        response = _respond_to(messages[0], errors, version, hide_values=hide_values)
        return b"" if response is None else _encode(response)
    # A batch may have tens of thousands of messages, few of them with errors.
    by_index = _group_by_index(errors)
    responses = [
        response
        for index in sorted(by_index)
        if (
            response := _respond_to(
                messages[index], by_index[index], version, hide_values=hide_values
            )
        )
        is not None
    ]
    return _encode(responses) if responses else b""


def _group_by_index(errors: Iterable[Violation]) -> dict[int, list[Violation]]:
    """Return *errors* of a batch by index of the message, with locations in it."""
    by_index: dict[int, list[Violation]] = defaultdict(list)
    for error in errors:
        index, slash, inner = error.instance_location[1:].partition("/")
        by_index[int(index)].append(replace(error, instance_location=slash + inner))
    return by_index


def _respond_to(
    message: Message, errors: list[Violation], version: str, *, hide_values: bool
) -> dict[str, Any] | None:
    """Return the response to *message*, or None if it must not get one."""
    if not errors or not _requires_response(message):
        return None
    if envelope_errors := [error for error in errors if error.code in _ENVELOPE_CODES]:
        return _build_response(INVALID_REQUEST, message, envelope_errors[0], errors, version)
    requested = _find_other_version(message, version) if version >= FIRST_STATELESS else None
    if requested is not None and (requested in VERSIONS or not hide_values):
        response = _build_response(UNSUPPORTED_VERSION, message, errors[0], errors, version)
        response["error"]["data"] |= {"supported": [version], "requested": requested}
        return response
    if method_errors := [error for error in errors if error.code in _METHOD_CODES]:
        return _build_response(METHOD_NOT_FOUND, message, method_errors[0], errors, version)
    return _build_response(INVALID_PARAMS, message, errors[0], errors, version)


def _requires_response(message: Message) -> bool:
    if message.kind is not Kind.BROKEN:
        return message.kind is Kind.REQUEST
    # Responding to a possible response could make two peers respond to each other endlessly.
    value = message.value
    return not isinstance(value, dict) or "method" in value or not _RESPONSE_KEYS & value.keys()


def _find_other_version(message: Message, version: str) -> str | None:
    """Return the protocol version that *message* requests; None if it is *version*."""
    params = message.value.get("params")
    if not isinstance(params, dict):
        return None
    if message.method == "initialize":
        requested = params.get("protocolVersion")
    else:
        requested = read_metadata(params).get(PROTOCOL_VERSION_KEY)
    if not isinstance(requested, str) or requested == version:
        return None
    return requested[:_MAX_VERSION_CHARACTERS]


def _build_response(
    code: int,
    message: Message | None,
    main_error: Violation,
    errors: Sequence[Violation],
    version: str,
) -> dict[str, Any]:
    """Return the response with *code*, the message of *main_error*, and all *errors*."""
    response: dict[str, Any] = {"jsonrpc": "2.0"}
    id_ = None if message is None else _find_id(message)
    if id_ is not None or version < _OPTIONAL_ID_SINCE:
        response["id"] = id_
    response["error"] = {
        "code": code,
        "message": error_message(code, main_error),
        "data": violations_data(errors, _MAX_VIOLATIONS),
    }
    return response


def _find_id(message: Message) -> str | int | None:
    if message.id is not None:
        return message.id
    value = message.value
    id_ = value.get("id") if isinstance(value, dict) else None
    return id_ if type(id_) is int or type(id_) is str else None


def _encode(response: Any) -> bytes:
    return encode_json(response)
