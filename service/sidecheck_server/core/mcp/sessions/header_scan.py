"""A look at a message before it is checked: what its context depends on."""

from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.payload import MalformedError, decode

__all__ = ["LARGEST_CAPABILITIES", "HeaderScan", "glance"]

LARGEST_CAPABILITIES = 16 << 10
"""The longest text of capabilities that is read, in bytes.

Those of real clients have some hundred. Each open request holds its own.
"""

_DEEPEST = 128

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


@dataclass(frozen=True, slots=True)
class HeaderScan:
    """What was seen of a message. None and "" stand for what it does not have."""

    id: Any = None
    method: str = ""
    #: Whether it is a response.
    answers: bool = False
    #: The protocol version that it names: for an ``initialize`` request or its result
    #: the one that is proposed or agreed on, else that of its ``_meta``.
    version: str = ""
    capabilities: dict[str, Any] | None = None
    #: Whether it tells capabilities that are too large to be read in passing.
    hides_capabilities: bool = False


def glance(text: bytes) -> HeaderScan:
    """Return what *text* tells at first sight; of what is no message, nothing."""
    members = _members(text)
    if members is None:
        return HeaderScan()
    id_ = _plain(members.get("id"))
    method = _plain(members.get("method"))
    if not isinstance(method, str):
        result = _members(members.get("result"))
        version = None if result is None else _plain(result.get("protocolVersion"))
        return HeaderScan(id_, answers=True, version=version if isinstance(version, str) else "")
    params = _members(members.get("params")) or {}
    meta = params if method == "initialize" else _members(params.get("_meta")) or {}
    names = ("protocolVersion", "capabilities") if method == "initialize" else _NAMES
    version, told = _plain(meta.get(names[0])), meta.get(names[1])
    hides = told is not None and len(bytes(told)) > LARGEST_CAPABILITIES
    capabilities = None if hides else _value(told)
    return HeaderScan(
        id_,
        method,
        version=version if isinstance(version, str) else "",
        capabilities=capabilities if isinstance(capabilities, dict) else None,
        hides_capabilities=hides,
    )


_NAMES = (_VERSION, _CAPABILITIES)
_OBJECT = dict[str, msgspec.Raw]


def _members(text: Any) -> dict[str, msgspec.Raw] | None:
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=_OBJECT)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _value(text: Any) -> Any:
    if text is None:
        return None
    try:
        return decode(bytes(text), max_depth=_DEEPEST, most=1)
    except (MalformedError, RequestError, RecursionError):
        return None


def _plain(text: Any) -> Any:
    """Return the value of *text* unless it is an array or an object, which may be large."""
    if text is None or bytes(text).startswith((b"[", b"{")):
        return None
    return _value(text)
