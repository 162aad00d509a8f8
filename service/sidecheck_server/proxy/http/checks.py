"""Checks specific to HTTP: callers, headers that mirror a message, and statuses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from sidecheck_server.config.addresses import is_loopback_host
from sidecheck_server.core.mcp.call_errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)
from sidecheck_server.core.mcp.http_headers import (
    HEADER_MISMATCH,
    HeaderFault,
    find_header_faults,
)
from sidecheck_server.core.payload import read_json
from sidecheck_server.proxy.messages import Message, error_response, read_object, string_value
from sidecheck_server.proxy.report import Action, Finding
from sidecheck_server.proxy.rulings.listing_pages import PROTOCOL_VERSION, ToolSource

__all__ = [
    "CallerCheck",
    "error_status",
    "find_mismatches",
    "mismatch_finding",
    "mismatch_response",
]

_FIRST_VERSION = "2026-07-28"
"""First protocol version whose headers mirror parts of the message."""

_ERROR_STATUSES = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
"""HTTP statuses by JSON-RPC error code, for a request that gets an error (2026-07-28, basic,
"_meta"; basic/transports/streamable-http, "Protocol Version Header" and "Server Validation").
The specification has none for the first two."""


@dataclass(frozen=True, slots=True)
class CallerCheck:
    """Check of the origin and host headers, against DNS rebinding.

    A page of another origin could reach a server on this machine by a host name that resolves
    to it (2025-11-25, basic/transports, "Security Warning").
    """

    #: Host of the listening address.
    host: str
    #: Origins of web pages that may call; ``*`` for all.
    origins: frozenset[str] = frozenset()
    #: Names in the host header, with or without a port; ``*`` for all.
    hosts: frozenset[str] = frozenset()

    def find_fault(self, headers: Mapping[str, str]) -> Literal["", "Origin", "Host"]:
        """Return the name of the header that does not admit the caller, "" if all do."""
        origin = headers.get("origin")
        if (
            origin is not None
            and self.origins.isdisjoint({"*", origin})
            and not self._is_own(origin)
        ):
            return "Origin"
        host = headers.get("host", "")
        if (
            is_loopback_host(self.host)
            and not self._is_own(f"//{host}")
            and not self._is_allowed_host(host)
        ):
            return "Host"
        return ""

    def _is_allowed_host(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host.lower()}")
            name, port = parts.hostname or "", parts.port
        except ValueError:
            return "*" in self.hosts
        name = f"[{name}]" if ":" in name else name.rstrip(".")
        return not self.hosts.isdisjoint({"*", name, f"{name}:{port}"})

    def _is_own(self, url: str) -> bool:
        try:
            name = urlsplit(url).hostname
        except ValueError:
            return False
        return name is not None and (
            is_loopback_host(name) if is_loopback_host(self.host) else name == self.host.lower()
        )


def error_status(headers: Mapping[str, str], reply: bytes) -> int:
    """Return the HTTP status of *reply*, a JSON-RPC response that the proxy creates.

    Before 2026-07-28, JSON-RPC errors have the status 200.
    """
    if headers.get("mcp-protocol-version", "") < _FIRST_VERSION:
        return 200
    value = msgspec.json.decode(reply)
    error = value.get("error") if isinstance(value, dict) else None
    return 200 if error is None else _ERROR_STATUSES.get(error["code"], 200)


def find_mismatches(
    headers: Mapping[str, str], message: Message, tools: ToolSource
) -> list[HeaderFault]:
    """Return the faults of *headers* that do not match *message*.

    Empty if neither the headers nor the message name the version 2026-07-28 or later.
    """
    if not message.is_request:
        return []
    metadata = read_object(message.params.get("_meta", b"")) or {}
    versions = headers.get("mcp-protocol-version", ""), string_value(metadata.get(PROTOCOL_VERSION))
    if max(versions) < _FIRST_VERSION:
        return []
    try:
        value = read_json(message.text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return [HeaderFault("", "", "the headers cannot be compared with the message")]
    return list(find_header_faults(headers, value, tools.input_schema(message)))


def mismatch_finding(message: Message, fault: HeaderFault, action: Action) -> Finding:
    """Return the finding about *fault*, with the *action* on *message*."""
    return Finding(
        sender="client",
        method=message.method,
        code="HEADER_MISMATCH",
        location=fault.location,
        action=action,
        note=fault.message,
    )


def mismatch_response(message: Message, fault: HeaderFault) -> bytes:
    """Return the error response to *message* that the specification requires."""
    code, title = HEADER_MISMATCH, "Header mismatch"
    if fault.is_malformed:
        code, title = INVALID_PARAMS, "Invalid params"
    error = {"code": code, "message": f"{title}: {fault.message}"}
    return error_response(message.properties["id"], msgspec.json.encode(error))
