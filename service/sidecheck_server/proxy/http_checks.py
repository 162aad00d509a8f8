"""What the proxy checks of HTTP itself: who calls, and headers that repeat parts of a message."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

from sidecheck_server.core.mcp.http_headers import (
    HEADER_MISMATCH,
    HeaderFault,
    find_header_faults,
)
from sidecheck_server.proxy.listing_requests import PROTOCOL_VERSION
from sidecheck_server.proxy.listings import Listings
from sidecheck_server.proxy.messages import Message, error_response, read_object, string_value
from sidecheck_server.proxy.report import Action, Finding

__all__ = ["CallerCheck", "find_mismatches", "mismatch_response"]

_WITH_HEADERS = "2026-07-28"
"""The first version whose headers repeat parts of the message."""


def _is_loopback(host: str) -> bool:
    try:
        return host.lower().removesuffix(".") == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class CallerCheck:
    """Who may call: pages of *origins*, and programs by the names of the host.

    A page of another origin could reach a server on this machine, by a name that it makes
    resolve to it (2025-11-25, basic/transports, "Security Warning").
    """

    #: The host to listen on.
    host: str
    origins: frozenset[str]

    def fault(self, headers: Mapping[str, str]) -> str:
        """Return why the caller that sends *headers* may not call, "" if it may."""
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins and not self._is_own(origin):
            return "this origin is not allowed"
        host = headers.get("host", "")
        if _is_loopback(self.host) and not self._is_own(f"//{host}"):
            return "this host is not allowed"
        return ""

    def _is_own(self, url: str) -> bool:
        try:
            name = urlsplit(url).hostname
        except ValueError:
            return False
        return name is not None and (
            _is_loopback(name) if _is_loopback(self.host) else name == self.host.lower()
        )


def find_mismatches(
    headers: Mapping[str, str], message: Message, listings: Listings, action: Action
) -> list[Finding]:
    """Return the headers of *message* that do not match it; *action* is what becomes of it.

    There are none to match before 2026-07-28, in the header and in the message.
    """
    if not message.is_request:
        return []
    metadata = read_object(message.params.get("_meta", b"")) or {}
    versions = headers.get("mcp-protocol-version", ""), string_value(metadata.get(PROTOCOL_VERSION))
    if max(versions) < _WITH_HEADERS:
        return []
    try:
        value = msgspec.json.decode(message.text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        faults = [HeaderFault("", "", "the headers cannot be compared with the message")]
    else:
        faults = [*find_header_faults(headers, value, listings.input_schema(message))]
    return [
        Finding(
            sender="client",
            method=message.method,
            code="HEADER_MISMATCH",
            location=fault.location,
            action=action,
            note=fault.message,
        )
        for fault in faults
    ]


def mismatch_response(message: Message, finding: Finding) -> bytes:
    """Return the response to *message*, with the error of the specification."""
    error = {"code": HEADER_MISMATCH, "message": f"Header mismatch: {finding.note}"}
    return error_response(message.properties["id"], msgspec.json.encode(error))
