"""Reads envelopes of JSON-RPC messages and reports their faults."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.rules import messages as message_rules
from sidecheck_server.core.mcp.rules.rule import Fault, Path, Rule

__all__ = ["Kind", "Message", "read_message"]


class Kind(StrEnum):
    """Kind of a message, by its envelope."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    #: None of these, or ambiguous.
    BROKEN = "broken"

    # Enumerations have a slower `__hash__`, written in Python.
    __hash__ = str.__hash__


@dataclass(slots=True)
class Message:
    """A message and its kind.

    Not frozen, since a frozen dataclass takes far longer to create.
    """

    kind: Kind
    #: Path in the payload: () or, in a batch, its index.
    path: Path
    #: The decoded message.
    value: Any
    #: Id of the message, or None if it is missing or invalid.
    id: str | int | None = None
    #: Method of the message or, for a response, of its request; "" if unknown.
    method: str = ""


#: First version in which an error response may have no id.
_OPTIONAL_ID_SINCE = "2025-11-25"
#: Codes of errors about requests with an unreadable id.
_UNREADABLE_CODES = (-32700, -32600)
_MISSING = object()
# Access to a member of an enumeration takes longer than creating a message.
_REQUEST, _NOTIFICATION, _RESULT = Kind.REQUEST, Kind.NOTIFICATION, Kind.RESULT


def read_message(value: Any, path: Path, findings: Findings) -> Message:
    """Read the message *value* at *path*, and report the faults of its envelope.

    This also reports params and results of the wrong JSON type; the checks of the contents do
    not.
    """
    if type(value) is not dict:
        message = f"expected a message, found {_describe(value, findings)}"
        _report(findings, message_rules.NOT_OBJECT, path, (), message)
        return Message(Kind.BROKEN, path, value)
    if value.get("jsonrpc") != "2.0":
        _report_version(value, path, findings)
    if "method" in value:
        return _read_request(value, path, findings)
    if "result" in value:
        return _read_result(value, path, findings)
    if "error" in value:
        return Message(Kind.ERROR, path, value, _read_error_id(value, path, findings))
    message = 'expected one of "method", "result" and "error", found none'
    _report(findings, message_rules.KIND_UNCLEAR, path, (), message)
    return Message(Kind.BROKEN, path, value)


def _read_request(value: dict[str, Any], path: Path, findings: Findings) -> Message:
    """Read the request or notification *value*."""
    method = value["method"]
    if "result" in value or "error" in value:
        name = "result" if "result" in value else "error"
        message = f'a message with "method" must not have "{name}"'
        _report(findings, message_rules.METHOD_WITH_ANSWER, path, (name,), message)
        return Message(Kind.BROKEN, path, value)
    if type(method) is not str:
        message = f"expected the name of a method, found {_describe(method, findings)}"
        _report(findings, message_rules.METHOD_TYPE, path, ("method",), message)
        return Message(Kind.BROKEN, path, value)
    params = value.get("params", _MISSING)
    if params is not _MISSING and type(params) is not dict:
        message = f"expected an object, found {_describe(params, findings)}"
        _report(findings, message_rules.PARAMS_TYPE, path, ("params",), message)
    if "id" not in value:
        return Message(_NOTIFICATION, path, value, None, method)
    if method.startswith("notifications/"):
        message = f"a notification must have no id, found {_describe(value['id'], findings)}"
        _report(findings, message_rules.NOTIFICATION_WITH_ID, path, ("id",), message)
        # JSON-RPC defines a message with an id as a request, which requires a response.
        is_valid_id = type(value["id"]) is int or type(value["id"]) is str
        return Message(_REQUEST, path, value, value["id"] if is_valid_id else None, method)
    id_ = value["id"]
    if type(id_) is not int and type(id_) is not str:
        id_ = _read_id(value, path, findings)
    return Message(_REQUEST, path, value, id_, method)


def _read_result(value: dict[str, Any], path: Path, findings: Findings) -> Message:
    if "error" in value:
        message = 'a response must have either "result" or "error", not both'
        _report(findings, message_rules.RESULT_WITH_ERROR, path, ("error",), message)
        return Message(Kind.BROKEN, path, value)
    if type(value["result"]) is not dict:
        message = f"expected an object, found {_describe(value['result'], findings)}"
        _report(findings, message_rules.RESULT_TYPE, path, ("result",), message)
    return Message(_RESULT, path, value, _read_id(value, path, findings))


def _read_id(value: dict[str, Any], path: Path, findings: Findings) -> str | int | None:
    id_ = value.get("id", _MISSING)
    if type(id_) is int or type(id_) is str:
        return id_
    # JSON Schema, and so the published schema, defines 1.0 as an integer.
    if isinstance(id_, float) and id_.is_integer():
        return int(id_)
    if id_ is _MISSING:
        message = "expected the id of the request"
        _report(findings, message_rules.ID_MISSING, path, (), message)
    elif id_ is not None:
        message = f"expected a string or an integer, found {_describe(id_, findings)}"
        _report(findings, message_rules.ID_TYPE, path, ("id",), message)
    else:
        message = "expected a string or an integer, found null"
        _report(findings, message_rules.ID_NULL, path, ("id",), message)
    return None


def _read_error_id(value: dict[str, Any], path: Path, findings: Findings) -> str | int | None:
    """Read the id of an error response, which lacks one if no request could be read.

    JSON-RPC 2.0, section 5, requires null in that case. The published schemas forbid null and,
    until 2025-06-18, require an id in every case.
    """
    version = findings.context.version
    if "id" not in value:
        if message_rules.ERROR_ID_MISSING.holds_in(version):
            message = "expected the id of the request"
            _report(findings, message_rules.ERROR_ID_MISSING, path, (), message)
        elif version < _OPTIONAL_ID_SINCE:
            return _read_id(value, path, findings)
        return None
    if value["id"] is not None:
        return _read_id(value, path, findings)
    error = value["error"]
    code = error.get("code") if isinstance(error, dict) else None
    if version >= _OPTIONAL_ID_SINCE or code not in _UNREADABLE_CODES:
        message = "expected the id of the request, or none if there is no such request; found null"
        _report(findings, message_rules.ERROR_ID_NULL, path, ("id",), message)
    return None


def _describe(value: Any, findings: Findings) -> str:
    return Values(hidden=findings.context.hide_values).describe(value)


def _report_version(value: dict[str, Any], path: Path, findings: Findings) -> None:
    if "jsonrpc" in value:
        message = f'expected "2.0", found {_describe(value["jsonrpc"], findings)}'
        _report(findings, message_rules.VERSION, path, ("jsonrpc",), message)
    else:
        message = 'missing required property "jsonrpc"; expected "2.0"'
        _report(findings, message_rules.VERSION, path, (), message, "jsonrpc")


def _report(
    findings: Findings,
    rule: Rule,
    path: Path,
    inner_path: Path,
    message: str,
    suggestion: str = "",
) -> None:
    findings.report(rule, path, Fault(inner_path, message, suggestion))
