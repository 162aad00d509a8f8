"""Rejections of connections and requests over HTTP: their responses, and what is reported."""

import time
from http import HTTPStatus

import msgspec
from starlette.responses import Response

from sidecheck_server.proxy.messages import Direction
from sidecheck_server.proxy.report import Action, Finding, Findings

__all__ = ["Rejections", "rejection_response"]

_PROBLEM_TYPE = "application/problem+json"
_RETRY_SECONDS = 1
_REPORT_SECONDS = 1.0
"""Time between findings of one code: whoever floods the proxy may not flood its report."""


class Rejections:
    """Reports rejections to *findings*, those of one code at most once a second."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._due: dict[str, float] = {}
        #: Rejections since the last finding of their code, with the last of their notes.
        self._unreported: dict[str, tuple[int, Direction, str]] = {}

    def add(self, code: str, note: str, sender: Direction = "client") -> None:
        """Report a rejection of what *sender* does, for the reason *note*."""
        count, _, _ = self._unreported.get(code, (0, sender, ""))
        self._unreported[code] = (count + 1, sender, note)
        now = time.monotonic()
        if now >= self._due.get(code, now):
            self._due[code] = now + _REPORT_SECONDS
            self._report(code)

    def flush(self) -> None:
        """Report the rejections that were not reported yet."""
        for code in [*self._unreported]:
            self._report(code)

    def _report(self, code: str) -> None:
        count, sender, note = self._unreported.pop(code)
        text = note if count == 1 else f"{note}; {count:,} times since the last such finding"
        self._findings.add(Finding(sender=sender, code=code, action=Action.REJECTED, note=text))


def rejection_response(status: HTTPStatus, code: str, note: str) -> Response:
    """Return the response to a request that is refused for the reason *note*."""
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
