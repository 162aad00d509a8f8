"""A look at a message before it is checked: what its context depends on."""

from dataclasses import dataclass
from typing import Any

import msgspec

__all__ = ["Glance", "glance"]

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


@dataclass(frozen=True, slots=True)
class Glance:
    """What was seen of a message. None and "" stand for what it does not have."""

    id: Any = None
    method: str = ""
    #: Whether it is a response.
    answers: bool = False
    #: The protocol version that it names: for an ``initialize`` request or its result
    #: the one that is proposed or agreed on, else that of its ``_meta``.
    version: str = ""
    capabilities: dict[str, Any] | None = None


def glance(text: bytes) -> Glance:
    """Return what *text* tells at first sight; of what is no message, nothing."""
    members = _members(text)
    if members is None:
        return Glance()
    id_ = _value(members.get("id"))
    method = _value(members.get("method"))
    if not isinstance(method, str):
        result = _members(members.get("result"))
        version = None if result is None else _value(result.get("protocolVersion"))
        return Glance(id_, answers=True, version=version if isinstance(version, str) else "")
    params = _members(members.get("params")) or {}
    meta = params if method == "initialize" else _members(params.get("_meta")) or {}
    names = ("protocolVersion", "capabilities") if method == "initialize" else _NAMES
    version, capabilities = _value(meta.get(names[0])), _value(meta.get(names[1]))
    return Glance(
        id_,
        method,
        version=version if isinstance(version, str) else "",
        capabilities=capabilities if isinstance(capabilities, dict) else None,
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
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
