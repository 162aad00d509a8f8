"""Limits of the proxy's HTTP server, and its rejections."""

import time
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

import msgspec
from starlette.responses import Response

from sidecheck_server.http_servers.connections import Bound, ClientBounds, ConnectionLimits
from sidecheck_server.proxy.http.bytes import BytesInFlight
from sidecheck_server.proxy.http_limits import HttpLimits
from sidecheck_server.proxy.messages import Direction
from sidecheck_server.proxy.report import Action, Finding, Findings

__all__ = [
    "HttpBounds",
    "Rejections",
    "rejection_response",
]

_PROBLEM_TYPE = "application/problem+json"
_RETRY_SECONDS = 1
_REPORT_SECONDS = 1.0
"""Minimum seconds between findings of one code: a flood of requests must not flood the report."""


class Rejections:
    """Reports rejections to *findings*, at most once a second for each code."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        #: Monotonic time of the next finding, by code.
        self._report_times: dict[str, float] = {}
        #: By code: rejections since its last finding, and sender and note of the last one.
        self._unreported: dict[str, tuple[int, Direction, str]] = {}

    def add(self, code: str, note: str, sender: Direction = "client") -> None:
        """Report that a request or response of *sender* is rejected because of *note*."""
        count, _, _ = self._unreported.get(code, (0, sender, ""))
        self._unreported[code] = (count + 1, sender, note)
        now = time.monotonic()
        if now >= self._report_times.get(code, now):
            self._report_times[code] = now + _REPORT_SECONDS
            self._report(code)

    def flush(self) -> None:
        """Report the rejections that are not reported yet."""
        for code in [*self._unreported]:
            self._report(code)

    def _report(self, code: str) -> None:
        count, sender, note = self._unreported.pop(code)
        text = note if count == 1 else f"{note}; {count:,} times since the last such finding"
        self._findings.add(Finding(sender=sender, code=code, action=Action.REJECTED, note=text))


def rejection_response(status: HTTPStatus, code: str, note: str) -> Response:
    """Return the response to a request that is rejected for the reason *note*."""
    is_transient = status is HTTPStatus.SERVICE_UNAVAILABLE
    headers = {"retry-after": str(_RETRY_SECONDS)} if is_transient else {}
    return Response(_details(status, code, note), status, headers, _PROBLEM_TYPE)


def _details(status: HTTPStatus, code: str, note: str) -> bytes:
    """Return the problem details (RFC 9457) of a rejection."""
    return msgspec.json.encode(
        {
            "type": "about:blank",
            "title": status.phrase,
            "status": status.value,
            "detail": note,
            "code": code,
        }
    )


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
        # Only for the report: the client does not read responses.
        Bound.WRITE_SECONDS: (
            HTTPStatus.REQUEST_TIMEOUT,
            "RESPONSE_NOT_READ",
            "a client did not read what it was sent (--write-seconds)",
        ),
    }
)
"""HTTP status, code and note of each rejection."""


class HttpBounds:
    """Limits of an HTTP server on clients and messages, and its rejections."""

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
        # Separate budgets, so that unread responses do not cause rejections of requests.
        self.requests = BytesInFlight(limits.bytes_in_flight)
        self.responses = BytesInFlight(limits.bytes_in_flight, limits.write_seconds)

    def _reject(self, bound: Bound) -> Response:
        status, code, note = _REJECTIONS[bound]
        self.rejections.add(code, note)
        return rejection_response(status, code, note)
