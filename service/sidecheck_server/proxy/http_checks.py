"""What the proxy checks of HTTP itself: who calls, and headers that repeat parts of a message."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

from sidecheck_server.core.mcp.http_headers import HEADER_MISMATCH, find_header_faults
from sidecheck_server.core.types import JsonValue
from sidecheck_server.proxy.messages import Message, error_response
from sidecheck_server.proxy.report import Action, Finding

__all__ = ["CallerCheck", "find_mismatches", "mismatch_response", "repeats_parts"]

_WITH_HEADERS = "2026-07-28"
"""The first version whose headers repeat parts of the message."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


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
        if self.host in _LOOPBACK and not self._is_own(f"//{host}"):
            return "this host is not allowed"
        return ""

    def _is_own(self, url: str) -> bool:
        try:
            name = urlsplit(url).hostname
        except ValueError:
            return False
        return name in _LOOPBACK if self.host in _LOOPBACK else name == self.host


def repeats_parts(headers: Mapping[str, str], message: Message) -> bool:
    """Return whether *headers* have to repeat parts of *message*."""
    return message.is_request and headers.get("mcp-protocol-version", "") >= _WITH_HEADERS


def find_mismatches(
    headers: Mapping[str, str], message: Message, input_schema: JsonValue, action: Action
) -> Iterator[Finding]:
    """Yield the headers of *message* that do not match it; *action* is what becomes of it."""
    value = msgspec.json.decode(message.text)
    for fault in find_header_faults(headers, value, input_schema):
        yield Finding(
            sender="client",
            method=message.method,
            code="HEADER_MISMATCH",
            location=fault.location,
            action=action,
            note=fault.message,
        )


def mismatch_response(message: Message, finding: Finding) -> bytes:
    """Return the response to *message*, with the error of the specification."""
    error = {"code": HEADER_MISMATCH, "message": f"Header mismatch: {finding.note}"}
    return error_response(message.properties["id"], msgspec.json.encode(error))
