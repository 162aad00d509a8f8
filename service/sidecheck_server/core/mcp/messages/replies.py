"""Replies: the JSON-RPC error responses that messages with errors deserve."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from sidecheck_server.core.mcp.error_objects import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    TITLES,
    UNSUPPORTED_VERSION,
    cut,
    data_of,
)
from sidecheck_server.core.mcp.messages.message import Kind, Message
from sidecheck_server.core.mcp.rules import envelope, methods
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.types import Severity, Verdict, Violation

__all__ = ["reply_to"]

_MOST = 20
"""How many violations a reply lists."""

#: The first version that lets an error response without an id, rather than with null.
_WITHOUT_ID = "2025-11-25"
#: The first version with an error for unsupported versions.
_DISCOVERY = "2026-07-28"
_VERSION_LENGTH = 64
_ANSWERS = frozenset({"result", "error"})
_VERSION = "io.modelcontextprotocol/protocolVersion"

_ENVELOPE = frozenset(rule.code for rule in envelope.RULES)
_METHOD = frozenset(
    {
        methods.UNKNOWN.code,
        methods.NOT_IN_VERSION.code,
        methods.WRONG_SENDER.code,
        "CAPABILITY_UNDECLARED",
        "TASK_CAPABILITY_UNDECLARED",
    }
)


def reply_to(
    messages: Sequence[Message], verdict: Verdict, version: str, *, hide_values: bool = False
) -> bytes:
    """Return what to send to who sent *messages*, as JSON text, or b"" if nothing is due.

    Each request with an error in *verdict* is due an error response, whose ``data`` list
    the first of its errors: ``{"violations": [{"code", "pointer", "message"}]}``, with
    pointers into that request. So is a text that is not JSON, of which there are no
    messages. Notifications and responses have none. A batch has an array of them. If there
    are more errors than are listed, the data say so in ``truncated``. With *hide_values* no
    value but the id is repeated, unless it is one that the protocol defines.
    """
    errors = [one for one in verdict.violations if one.severity is Severity.ERROR]
    if not errors:
        return b""
    if not messages:
        not_json = any(one.code == "PAYLOAD_NOT_JSON" for one in errors)
        code = PARSE_ERROR if not_json else INVALID_REQUEST
        return _encoded(_response(code, None, errors[0], errors, version))
    if messages[0].path == ():
        reply = _reply(messages[0], errors, version, hide_values=hide_values)
        return b"" if reply is None else _encoded(reply)
    # A batch may have tens of thousands of messages, and few of them errors.
    below = _by_message(errors)
    replies = [
        reply
        for index in sorted(below)
        if (reply := _reply(messages[index], below[index], version, hide_values=hide_values))
        is not None
    ]
    return _encoded(replies) if replies else b""


def _by_message(errors: Iterable[Violation]) -> dict[int, list[Violation]]:
    """Return *errors* in a batch by the index of the message, with pointers into that."""
    found: dict[int, list[Violation]] = defaultdict(list)
    for one in errors:
        index, slash, inner = one.instance_location[1:].partition("/")
        found[int(index)].append(replace(one, instance_location=slash + inner))
    return found


def _reply(
    message: Message, errors: list[Violation], version: str, *, hide_values: bool
) -> dict[str, Any] | None:
    """Return the response to *message*, or None if it is due none."""
    if not errors or not _is_due(message):
        return None
    if broken := [one for one in errors if one.code in _ENVELOPE]:
        return _response(INVALID_REQUEST, message, broken[0], errors, version)
    asked = _requested(message, version) if version >= _DISCOVERY else None
    if asked is not None and (asked in VERSIONS or not hide_values):
        response = _response(UNSUPPORTED_VERSION, message, errors[0], errors, version)
        response["error"]["data"] |= {"supported": [version], "requested": asked}
        return response
    if unknown := [one for one in errors if one.code in _METHOD]:
        return _response(METHOD_NOT_FOUND, message, unknown[0], errors, version)
    return _response(INVALID_PARAMS, message, errors[0], errors, version)


def _is_due(message: Message) -> bool:
    if message.kind is not Kind.BROKEN:
        return message.kind is Kind.REQUEST
    # What might be a response is not answered, lest two peers answer each other for ever.
    value = message.value
    return not isinstance(value, dict) or "method" in value or not _ANSWERS & value.keys()


def _requested(message: Message, version: str) -> str | None:
    """Return the version of the protocol that *message* asks for, if it is another one."""
    params = message.value.get("params")
    if not isinstance(params, dict):
        return None
    if message.method == "initialize":
        asked = params.get("protocolVersion")
    else:
        meta = params.get("_meta")
        asked = meta.get(_VERSION) if isinstance(meta, dict) else None
    return asked[:_VERSION_LENGTH] if isinstance(asked, str) and asked != version else None


def _response(
    code: int,
    message: Message | None,
    why: Violation,
    errors: Sequence[Violation],
    version: str,
) -> dict[str, Any]:
    """Return the error response of *code* for *why*, one of *errors*, which its data list."""
    response: dict[str, Any] = {"jsonrpc": "2.0"}
    id_ = None if message is None else _id_of(message)
    if id_ is not None or version < _WITHOUT_ID:
        response["id"] = id_
    where = f" at {why.instance_location}" if why.instance_location else ""
    said = cut(f"{TITLES[code]}{where}: {why.message}")
    response["error"] = {"code": code, "message": said, "data": data_of(errors, _MOST)}
    return response


def _id_of(message: Message) -> str | int | None:
    if message.id is not None:
        return message.id
    value = message.value
    id_ = value.get("id") if isinstance(value, dict) else None
    return id_ if type(id_) is int or type(id_) is str else None


def _encoded(reply: Any) -> bytes:
    return msgspec.json.encode(reply)
