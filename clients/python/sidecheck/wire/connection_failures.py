"""Causes of calls that no Sidecheck server answered, from the messages of gRPC.

The clients of all languages word these causes alike (tests/cases/clients/connections.json); only
the remedies have the names of the language.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import grpc

__all__ = ["REMEDIES", "Peer", "describe_failure"]

#: What a caller may do about a cause, in the names of this client.
REMEDIES: Final[Mapping[str, str]] = {
    "CONNECTION_CLOSED": "if it speaks TLS, set tls",
    "TLS_CONNECTION_CLOSED": "if it requires a client certificate, set certificate of tls",
    "TLS_NOT_SPOKEN": "leave out tls",
    "UNTRUSTED_CERTIFICATE": "set ca_certificates of tls",
    "MISNAMED_CERTIFICATE": "set server_name of tls",
}

#: Prefix of gRPC's message if no connection could be made.
NOT_CONNECTED: Final = re.compile(
    r"failed to connect to all addresses; last error: "
    r"(?:[A-Z_]+: )?(?:(?:ipv4|ipv6|unix):\S+: )?(?P<fault>.*)",
    re.DOTALL,
)

#: Causes by parts of gRPC's messages, which the first that matches decides. A server with TLS
#: sends nothing to a client in plain text, and closes the connection; so does one that requires
#: a client certificate, if there is none.
CAUSES: Final[tuple[tuple[str, str], ...]] = (
    (r"Connection refused", "CONNECTION_REFUSED"),
    (r"No such file or directory", "NO_SOCKET"),
    (r"WRONG_VERSION_NUMBER", "TLS_NOT_SPOKEN"),
    (
        r"CERTIFICATE_VERIFY_FAILED: (?:unable to get local issuer|self.signed) certificate",
        "UNTRUSTED_CERTIFICATE",
    ),
    (r"Hostname Verification Check failed", "MISNAMED_CERTIFICATE"),
    (r"Failed parsing HTTP/2|http1\.x", "HTTP2_NOT_SPOKEN"),
    (r"Socket closed|Connection reset|Broken pipe|CERTIFICATE_REQUIRED", "CONNECTION_CLOSED"),
)

UNRESOLVED: Final = re.compile(
    r"DNS resolution failed|errors resolving|hostname lookup error|[Dd]omain name not found"
)
HTTP_STATUS: Final = re.compile(r"Received http2 header with status: (\d{3})")


@dataclass(frozen=True, slots=True)
class Peer:
    """The server that a client calls."""

    #: The address, as the caller wrote it.
    address: str
    has_tls: bool = False
    #: Name that the certificate must have; "" is the host of the address.
    server_name: str = ""

    @property
    def place(self) -> str:
        """The address without the scheme of gRPC's resolver."""
        return self.address.removeprefix("dns:///")


def describe_failure(
    code: grpc.StatusCode, message: str, peer: Peer
) -> tuple[str, dict[str, str]] | None:
    """Return the message and the metadata for a status that gRPC itself made.

    The metadata has the ``cause`` and the ``address``. Returns None if the cause is unknown.
    """
    place = peer.place
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        text, cause = f"no response from {place} before the deadline", "NO_RESPONSE"
    elif status := HTTP_STATUS.search(message):
        text = f"{place} answered with HTTP status {status[1]}, not with gRPC"
        cause = "HTTP_RESPONSE"
    elif code is not grpc.StatusCode.UNAVAILABLE:
        return None
    elif UNRESOLVED.search(message):
        text, cause = f"cannot resolve the host of {place}", "UNKNOWN_HOST"
    elif not_connected := NOT_CONNECTED.match(message):
        text, cause = describe_connection(not_connected["fault"], peer)
    else:
        return None
    if cause in REMEDIES:
        text = f"{text}: {REMEDIES[cause]}"
    return text, {"cause": cause, "address": peer.address}


def describe_connection(fault: str, peer: Peer) -> tuple[str, str]:
    """Return the text, without a remedy, and the cause of a connection that was not made."""
    place = peer.place
    cause = next((name for part, name in CAUSES if re.search(part, fault)), "NOT_CONNECTED")
    if cause == "CONNECTION_CLOSED" and peer.has_tls:
        cause = "TLS_CONNECTION_CLOSED"
    name = peer.server_name or place.rpartition(":")[0]
    texts = {
        "CONNECTION_REFUSED": f"connection refused at {place}",
        "NO_SOCKET": f"no socket at {place}",
        "CONNECTION_CLOSED": f"the server at {place} closed the connection",
        "TLS_CONNECTION_CLOSED": f"the server at {place} closed the TLS connection",
        "TLS_NOT_SPOKEN": f"the server at {place} does not speak TLS",
        "UNTRUSTED_CERTIFICATE": f"no trusted authority signed the certificate of {place}",
        "MISNAMED_CERTIFICATE": f"the certificate of {place} is not for the name {name}",
        "HTTP2_NOT_SPOKEN": f"the server at {place} does not speak HTTP/2, which gRPC requires",
    }
    return texts.get(cause, f"cannot connect to {place}: {fault}"), cause
