"""Scan of a message, before it is decoded, for the fields that determine its context."""

from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.metadata_keys import CLIENT_CAPABILITIES_KEY, PROTOCOL_VERSION_KEY
from sidecheck_server.core.payload import MalformedError, decode

__all__ = ["MAX_CAPABILITIES_BYTES", "MessageScan", "scan_message"]

MAX_CAPABILITIES_BYTES = 16 << 10
"""Longest text of capabilities that is read, in bytes.

Capabilities of real clients take some hundred bytes. Each open request stores its own.
"""

_MAX_ITEMS = 1000
"""Number of messages of a batch that are scanned."""

_MAX_SPACES = 64
_MAX_DEPTH = 128
_OBJECT = dict[str, msgspec.Raw]

_META_NAMES = (PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY)
_INITIALIZE_NAMES = ("protocolVersion", "capabilities")


@dataclass(frozen=True, slots=True)
class MessageScan:
    """Fields of a message; None or "" if the message lacks the field."""

    id: Any = None
    method: str = ""
    is_response: bool = False
    #: Whether it is an ``initialize`` request. False if it has no ``protocolVersion`` and its
    #: ``_meta`` declares a version: versions with that field have no handshake.
    is_handshake: bool = False
    #: Protocol version in an ``initialize`` request or its result, otherwise in ``_meta``.
    version: str = ""
    capabilities: dict[str, Any] | None = None
    #: Whether it declares capabilities longer than `MAX_CAPABILITIES_BYTES`.
    capabilities_too_large: bool = False
    #: Code of an error response, or None.
    error_code: int | None = None
    #: The first messages of a batch.
    items: tuple["MessageScan", ...] = ()


def scan_message(text: bytes) -> MessageScan:
    """Return the fields of the message *text*; an empty scan if it is not a message.

    The version of a batch is that of an ``initialize`` request in it.
    """
    message = _decode_object(text)
    if message is not None:
        return _scan_fields(message)
    items = tuple(_scan_fields(_decode_object(item) or {}) for item in _split_first_items(text))
    versions = (item.version for item in items if item.method == "initialize")
    return MessageScan(version=next(versions, ""), items=items)


def _split_first_items(text: bytes) -> list[msgspec.Raw]:
    """Return the first values of the array *text*; [] if it is not an array."""
    if not text[:_MAX_SPACES].lstrip().startswith(b"["):
        return []
    try:
        return msgspec.json.decode(text, type=list[msgspec.Raw])[:_MAX_ITEMS]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []


def _scan_fields(message: dict[str, msgspec.Raw]) -> MessageScan:
    id_ = _decode_scalar(message.get("id"))
    method = _decode_scalar(message.get("method"))
    if not isinstance(method, str):
        result = _decode_object(message.get("result"))
        version = None if result is None else _decode_scalar(result.get("protocolVersion"))
        version = version if isinstance(version, str) else ""
        code = _decode_scalar((_decode_object(message.get("error")) or {}).get("code"))
        return MessageScan(
            id_,
            is_response=True,
            version=version,
            error_code=code if type(code) is int else None,
        )
    params = _decode_object(message.get("params")) or {}
    metadata = _decode_object(params.get("_meta")) or {}
    is_handshake = method == "initialize" and (
        "protocolVersion" in params or PROTOCOL_VERSION_KEY not in metadata
    )
    fields, names = (params, _INITIALIZE_NAMES) if is_handshake else (metadata, _META_NAMES)
    version, declared = _decode_scalar(fields.get(names[0])), fields.get(names[1])
    too_large = declared is not None and len(bytes(declared)) > MAX_CAPABILITIES_BYTES
    capabilities = None if too_large else _decode_value(declared)
    return MessageScan(
        id_,
        method,
        is_handshake=is_handshake,
        version=version if isinstance(version, str) else "",
        capabilities=capabilities if isinstance(capabilities, dict) else None,
        capabilities_too_large=too_large,
    )


def _decode_object(text: Any) -> dict[str, msgspec.Raw] | None:
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=_OBJECT)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _decode_value(text: Any) -> Any:
    if text is None:
        return None
    try:
        return decode(bytes(text), max_depth=_MAX_DEPTH, max_violations=1)
    except (MalformedError, RequestError, RecursionError):
        return None


def _decode_scalar(text: Any) -> Any:
    """Return the value of *text*; None for arrays and objects, which may be large."""
    if text is None or bytes(text).startswith((b"[", b"{")):
        return None
    return _decode_value(text)
