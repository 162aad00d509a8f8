"""Spans for the work in a call, as children of the span of the call.

Like the log, spans contain kinds and counts, but never names, values or schemas of a request.
Exceptions are not recorded, because their texts may contain these.
"""

import logging
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import grpc
import structlog
from opentelemetry import trace
from opentelemetry.context import Context, attach, create_key, detach, get_current, set_value
from opentelemetry.trace import INVALID_SPAN, Span, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.types import AttributeValue
from structlog.typing import EventDict

from sidecheck_server.core.errors import RequestError
from sidecheck_server.rpc.status import STATUS_CODES

__all__ = [
    "LIBRARY",
    "Attributes",
    "CallSpans",
    "ChildSpans",
    "ExportFailures",
    "add_span",
    "current_spans",
    "record_error",
    "status_name",
]

LIBRARY: Final = "opentelemetry"
"""Name of the logger of the library."""

_LOG_INTERVAL_SECONDS: Final = 60.0

_FIELD: Final = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[a-z]")
"""A field of a template of `logging`."""

_log = structlog.get_logger("sidecheck.tracing")


def add_span(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Add the ids of the current span to *event*, in the format of OTLP."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
        event["span_id"] = trace.format_span_id(context.span_id)
    return event


class ExportFailures(logging.Handler):
    """Logs the library's messages about failed exports, at most once a minute."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lock = threading.Lock()
        self._last = -_LOG_INTERVAL_SECONDS
        self._failures = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count *record*, and log it unless one was logged in the last minute."""
        with self._lock:
            self._failures += 1
            now = time.monotonic()
            if now - self._last < _LOG_INTERVAL_SECONDS:
                return
            self._last, failures, self._failures = now, self._failures, 0
        _log.warning("tracing.export_failed", detail=describe(record), failures=failures)


def describe(record: logging.LogRecord) -> str:
    """Return the first line of *record*, with only statuses and numbers as arguments.

    Other arguments are texts from the collector or the network.
    """
    arguments = record.args if isinstance(record.args, tuple) else ()
    texts = tuple(map(_format_argument, arguments))
    template = str(record.msg).partition("\n")[0]
    try:
        return _FIELD.sub("%s", template) % texts if texts else template
    except (TypeError, ValueError):
        return template


def _format_argument(argument: object) -> str:
    if isinstance(argument, grpc.StatusCode):
        return str(argument.name)
    return str(argument) if isinstance(argument, int | float) else "…"


Attributes: TypeAlias = Mapping[str, AttributeValue]

_MOST_CHILDREN: Final = 128
"""Most spans below the span of a call.

A batch or a registration may look up, compile and offload ten thousand times. That would fill
the queue of the exporter, which would then drop spans of other calls.
"""

_CALL: Final = create_key("sidecheck-call")

_SERVER_ERRORS: Final = frozenset(
    code.name
    for code in (
        *(grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED),
        *(grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INTERNAL),
        *(grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DATA_LOSS),
    )
)
"""Statuses that are errors of a server, by the semantic conventions for gRPC."""

_NAMES: Final[Mapping[int, str]] = {code.value[0]: code.name for code in grpc.StatusCode}


class CallSpans:
    """The span of one call, and a limited number of spans below it."""

    __slots__ = ("_count", "span")

    def __init__(self, span: Span) -> None:
        self.span = span
        self._count = 0

    def context(self, context: Context) -> Context:
        """Return *context* with the span of the call.

        Only if that span is recorded, the work in the context gets spans.
        """
        recorded = self if self.span.is_recording() else None
        return set_value(_CALL, recorded, set_span_in_context(self.span, context))

    def admit(self) -> bool:
        """Count one more span below that of the call; return whether the limit allows it."""
        self._count += 1
        return self._count <= _MOST_CHILDREN

    def end(self) -> None:
        """End the span of the call."""
        if self._count > _MOST_CHILDREN:
            self.span.set_attribute("sidecheck.spans.dropped", self._count - _MOST_CHILDREN)
        self.span.end()


class ChildSpans:
    """Factory of spans for the work in calls."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[Span]:
        """Create a span for the context, if it is part of a call with a recorded span."""
        context = get_current()
        call = current_spans(context)
        if call is None or not call.admit():
            yield INVALID_SPAN
            return
        span = self._tracer.start_span(name, context, attributes=attributes)
        token = attach(set_span_in_context(span, context))
        try:
            yield span
        except RequestError as error:
            span.set_attribute("sidecheck.reason", error.reason.value)
            record_error(span, STATUS_CODES[error.reason].name)
            raise
        except Exception as error:
            record_error(span, "INTERNAL", type(error).__name__)
            raise
        finally:
            detach(token)
            span.end()


def current_spans(context: Context) -> CallSpans | None:
    """Return the spans of the call of *context*, or None if they are not recorded."""
    call = context.get(_CALL)
    return call if isinstance(call, CallSpans) else None


def record_error(span: Span, status: str, error_type: str = "") -> None:
    """Mark *span* as an error if *status* is an error of the server."""
    if status in _SERVER_ERRORS:
        span.set_attribute("error.type", error_type or status)
        span.set_status(StatusCode.ERROR)


def status_name(code: int) -> str:
    """Return the name of the status *code* of gRPC."""
    return _NAMES.get(code, "UNKNOWN")
