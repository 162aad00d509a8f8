"""Reading envelopes: what a message is, and what is wrong with it apart from its contents."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.rules import envelope
from sidecheck_server.core.mcp.rules.rule import Fault, Path, Rule

__all__ = ["Kind", "Message", "read_message"]


class Kind(StrEnum):
    """What a message is."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    #: None of these, or not to be told.
    BROKEN = "broken"


@dataclass(slots=True)
class Message:
    """A message that was read. Not frozen, since making a frozen one takes far longer."""

    kind: Kind
    #: Where it stands in the payload: () or, in a batch, the index alone.
    path: Path
    #: The whole message.
    value: Any
    #: The id, if it is one that a message may have.
    id: str | int | None = None
    #: The method, or for a response that of the request that it answers; "" if not known.
    method: str = ""


#: The first version in which an error response may have no id.
_WITHOUT_ID = "2025-11-25"
#: The errors of a request whose id could not be read.
_UNREADABLE = (-32700, -32600)
_MISSING = object()
# Looking a member of an enumeration up takes longer than making a message.
_REQUEST, _NOTIFICATION, _ANSWER = Kind.REQUEST, Kind.NOTIFICATION, Kind.RESULT


def read_message(value: Any, path: Path, findings: Findings) -> Message:
    """Return the message that *value* at *path* is, and tell *findings* what its envelope lacks.

    Contents of the wrong JSON type are told too; whoever judges them looks again.
    """
    if type(value) is not dict:
        found = _shown(value, findings)
        _tell(findings, envelope.NOT_OBJECT, path, (), f"expected a message, found {found}")
        return Message(Kind.BROKEN, path, value)
    if value.get("jsonrpc") != "2.0":
        _tell_version(value, path, findings)
    if "method" in value:
        return _asking(value, path, findings)
    if "result" in value:
        return _result(value, path, findings)
    if "error" in value:
        if value.get("id", _MISSING) is _MISSING and findings.context.version >= _WITHOUT_ID:
            return Message(Kind.ERROR, path, value)
        return Message(Kind.ERROR, path, value, _id_of(value, path, findings))
    said = "expected a method, a result or an error, found none of them"
    _tell(findings, envelope.KIND_UNCLEAR, path, (), said)
    return Message(Kind.BROKEN, path, value)


def _asking(value: dict[str, Any], path: Path, findings: Findings) -> Message:
    """Return the request or notification that *value* is."""
    method = value["method"]
    if "result" in value or "error" in value:
        name = "result" if "result" in value else "error"
        said = f'a message with a method is a request or a notification, without "{name}"'
        _tell(findings, envelope.METHOD_WITH_ANSWER, path, (name,), said)
        return Message(Kind.BROKEN, path, value)
    if type(method) is not str:
        found = _shown(method, findings)
        said = f"expected the name of a method, found {found}"
        _tell(findings, envelope.METHOD_TYPE, path, ("method",), said)
        return Message(Kind.BROKEN, path, value)
    params = value.get("params", _MISSING)
    if params is not _MISSING and type(params) is not dict:
        found = _shown(params, findings)
        _tell(
            findings, envelope.PARAMS_TYPE, path, ("params",), f"expected an object, found {found}"
        )
    if "id" not in value:
        return Message(_NOTIFICATION, path, value, None, method)
    if method.startswith("notifications/"):
        said = (
            f"expected no id, since this is a notification, found {_shown(value['id'], findings)}"
        )
        _tell(findings, envelope.NOTIFICATION_WITH_ID, path, ("id",), said)
        # JSON-RPC takes it for a request all the same, and it is answered as one.
        known = type(value["id"]) is int or type(value["id"]) is str
        return Message(_REQUEST, path, value, value["id"] if known else None, method)
    id_ = value["id"]
    if type(id_) is not int and type(id_) is not str:
        id_ = _id_of(value, path, findings)
    return Message(_REQUEST, path, value, id_, method)


def _result(value: dict[str, Any], path: Path, findings: Findings) -> Message:
    if "error" in value:
        said = "a response has a result or an error, not both"
        _tell(findings, envelope.RESULT_WITH_ERROR, path, ("error",), said)
        return Message(Kind.BROKEN, path, value)
    if type(value["result"]) is not dict:
        found = _shown(value["result"], findings)
        _tell(
            findings, envelope.RESULT_TYPE, path, ("result",), f"expected an object, found {found}"
        )
    return Message(_ANSWER, path, value, _id_of(value, path, findings))


def _id_of(value: dict[str, Any], path: Path, findings: Findings) -> str | int | None:
    id_ = value.get("id", _MISSING)
    if type(id_) is int or type(id_) is str:
        return id_
    # JSON Schema, and so the published one, takes 1.0 for an integer.
    if type(id_) is float and id_.is_integer():
        return int(id_)
    if id_ is _MISSING:
        said = "expected the id of the request that this answers"
        _tell(findings, envelope.ID_MISSING, path, (), said)
    elif id_ is not None:
        found = _shown(id_, findings)
        said = f"expected a string or an integer, found {found}"
        _tell(findings, envelope.ID_TYPE, path, ("id",), said)
    elif not _answers_unreadable(value, findings.context.version):
        _tell(
            findings, envelope.ID_NULL, path, ("id",), "expected a string or an integer, found null"
        )
    return None


def _answers_unreadable(value: dict[str, Any], version: str) -> bool:
    """Return whether *value* is the error response to a request whose id could not be read.

    JSON-RPC 2.0, section 5, wants its id to be null. The published schemas forbid that
    and, until 2025-11-25, leave nothing else either.
    """
    error = value.get("error")
    return (
        version < _WITHOUT_ID
        and "method" not in value
        and isinstance(error, dict)
        and error.get("code") in _UNREADABLE
    )


def _shown(value: Any, findings: Findings) -> str:
    return Values(hidden=findings.context.hide_values).found(value)


def _tell_version(value: dict[str, Any], path: Path, findings: Findings) -> None:
    if "jsonrpc" in value:
        found = _shown(value["jsonrpc"], findings)
        said = f'expected "2.0", found {found}'
        _tell(findings, envelope.VERSION, path, ("jsonrpc",), said)
    else:
        said = 'expected the member "jsonrpc", which is "2.0"'
        _tell(findings, envelope.VERSION, path, (), said, "jsonrpc")


def _tell(
    findings: Findings, rule: Rule, path: Path, at: Path, message: str, near: str = ""
) -> None:
    findings.tell(rule, path, Fault(at, message, near))
