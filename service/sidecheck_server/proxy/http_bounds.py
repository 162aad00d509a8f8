"""Limits of the proxy's HTTP server: connections, bytes held, and reported rejections."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from starlette.responses import Response

from sidecheck_server.http_servers.connections import Bound, ClientBounds, ConnectionLimits
from sidecheck_server.proxy.http_bytes import BytesInFlight
from sidecheck_server.proxy.http_limits import HttpLimits
from sidecheck_server.proxy.http_rejections import Rejections, rejection_response
from sidecheck_server.proxy.report import Findings

__all__ = ["HttpBounds"]

_REJECTIONS: Final[Mapping[Bound, tuple[HTTPStatus, str, str]]] = MappingProxyType(
    {
        Bound.CONNECTIONS: (
            HTTPStatus.SERVICE_UNAVAILABLE,
            "TOO_MANY_CONNECTIONS",
            "too many connections are open (--max-connections)",
        ),
        Bound.PEER_CONNECTIONS: (
            HTTPStatus.SERVICE_UNAVAILABLE,
            "TOO_MANY_CONNECTIONS",
            "too many connections of one address are open (--max-peer-connections)",
        ),
        Bound.HEAD_SECONDS: (
            HTTPStatus.REQUEST_TIMEOUT,
            "REQUEST_TIMEOUT",
            "the head of a request did not arrive in time (--head-seconds)",
        ),
        Bound.BODY_SECONDS: (
            HTTPStatus.REQUEST_TIMEOUT,
            "REQUEST_TIMEOUT",
            "the body of a request did not arrive in time (--body-seconds)",
        ),
        # The client does not see this response: it has not read the one before.
        Bound.WRITE_SECONDS: (
            HTTPStatus.REQUEST_TIMEOUT,
            "RESPONSE_NOT_READ",
            "a client did not read what it was sent (--write-seconds)",
        ),
    }
)
"""Statuses of HTTP, codes and notes of rejections."""


class HttpBounds:
    """The clients, messages and rejections of an HTTP server with *limits*."""

    def __init__(self, limits: HttpLimits, findings: Findings) -> None:
        self.rejections = Rejections(findings)
        self.clients = ClientBounds(
            ConnectionLimits(
                connections=limits.connections,
                peer_connections=limits.peer_connections,
                head_seconds=limits.head_seconds,
                body_seconds=limits.body_seconds,
                write_seconds=limits.write_seconds,
            ),
            self._reject,
        )
        # Apart, so that responses that nobody reads do not reject requests.
        self.requests = BytesInFlight(limits.bytes_in_flight)
        self.responses = BytesInFlight(limits.bytes_in_flight, limits.write_seconds)

    def _reject(self, bound: Bound) -> Response:
        status, code, note = _REJECTIONS[bound]
        self.rejections.add(code, note)
        return rejection_response(status, code, note)
