"""A call whose span is made: what its methods report becomes attributes of the span."""

import asyncio
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import grpc
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span

from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.observability.tracing.spans import CallSpans, record_error, status_name
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.status import reason_of

__all__ = ["TracedCall", "record_outcome"]

_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: f"sidecheck.{name}"
        for name in (
            *("outcome", "enforced", "violations", "codes", "items", "invalid", "errors"),
            *("tools", "names", "strict", "rejected", "removed", "deleted"),
        )
    }
)
"""The fields of the log that spans have too."""

_CANCELLED: Final = grpc.StatusCode.CANCELLED.name
_DEADLINE_EXCEEDED: Final = grpc.StatusCode.DEADLINE_EXCEEDED.name

_WAY_SECONDS: Final = 0.05
"""How long a call may be under way to the server, for telling why the peer ended it."""


class TracedCall:
    """A call with its span, which ends with the block that the call is."""

    __slots__ = ("_begun", "_call", "_spans", "context")

    def __init__(self, call: Call, spans: CallSpans, parent: Context) -> None:
        self._call = call
        self._spans = spans
        self._begun = time.perf_counter()
        #: The context of what the call causes.
        self.context = spans.context(parent)

    def __enter__(self) -> None:
        """Begin the call."""

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """End the span, with the status that *error* gives the call."""
        span, status = self._spans.span, self._status(error)
        span.set_attribute("rpc.response.status_code", status)
        record_error(span, status)
        self._spans.end()

    @property
    def link(self) -> tuple[Link, ...]:
        """The link to the span of the call."""
        return (Link(self._spans.span.get_span_context()),)

    @property
    def peer(self) -> str:
        """Who calls."""
        return self._call.peer

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata that are text."""
        return self._call.metadata

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline."""
        return self._call.time_remaining()

    def observe(
        self, fields: Mapping[str, Any], codes: Mapping[str, int], reasons: Mapping[str, int]
    ) -> None:
        """Take what is logged of the responses."""
        attributes = {_FIELDS[name]: value for name, value in fields.items() if name in _FIELDS}
        if reasons:
            attributes["sidecheck.reasons"] = sorted(reasons)
        self._spans.span.set_attributes(attributes)
        self._call.observe(fields, codes, reasons)

    def observe_error(self, reason: ErrorReason | None) -> None:
        """Take why the call failed."""
        self._spans.span.set_attribute("sidecheck.reason", _reason(reason))
        self._call.observe_error(reason)

    def _status(self, error: BaseException | None) -> str:
        """Return the name of the status that *error*, or its absence, gives the call."""
        match error:
            case None:
                return "OK"
            case CallFailed():
                return status_name(error.status.code)
            case asyncio.CancelledError() | GeneratorExit():
                return self._status_of_cancelled()
            case _:
                return "UNKNOWN"

    def _status_of_cancelled(self) -> str:
        """Return the status of the call, which the peer or its deadline ended."""
        left = self._call.time_remaining()
        slack = max(_WAY_SECONDS, 0.01 * (time.perf_counter() - self._begun))
        is_late = left is not None and left <= slack
        return _DEADLINE_EXCEEDED if is_late else _CANCELLED


def record_outcome(span: Span, outcome: Any) -> None:
    """Record the *outcome* of an item of a stream."""
    if outcome.HasField("error"):
        span.set_attribute("sidecheck.outcome", "error")
        span.set_attribute("sidecheck.reason", reason_of(outcome.error))
        record_error(span, status_name(outcome.error.code))
        return
    verdict = outcome.result.verdict if hasattr(outcome, "result") else outcome.verdict
    span.set_attribute("sidecheck.outcome", "valid" if verdict.valid else "invalid")
    span.set_attribute("sidecheck.violations", len(verdict.violations))


def _reason(reason: ErrorReason | None) -> str:
    return "INTERNAL" if reason is None else reason.value
