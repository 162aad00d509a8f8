"""What tracing adds to the log: the span of an event, and exporters that fail."""

import logging
import re
import threading
import time
from typing import Any, Final

import grpc
import structlog
from opentelemetry import trace
from structlog.typing import EventDict

__all__ = ["LIBRARY", "ExportFailures", "add_span"]

LIBRARY: Final = "opentelemetry"
"""Name of the logger of the library."""

_EVERY_SECONDS: Final = 60.0

_FIELD: Final = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[a-z]")
"""A field of a template of `logging`."""

_log = structlog.get_logger("sidecheck.tracing")


def add_span(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Add the ids of the current span to *event*, in the form that OTLP and collectors have."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
        event["span_id"] = trace.format_span_id(context.span_id)
    return event


class ExportFailures(logging.Handler):
    """Logs what the library says of spans that it cannot export, at most once a minute."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said = threading.Lock()
        self._last = -_EVERY_SECONDS
        self._failures = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count *record*, and log it if none was in the last minute."""
        with self._said:
            self._failures += 1
            now = time.monotonic()
            if now - self._last < _EVERY_SECONDS:
                return
            self._last, failures, self._failures = now, self._failures, 0
        _log.warning("tracing.export_failed", detail=describe(record), failures=failures)


def describe(record: logging.LogRecord) -> str:
    """Return the first line of *record* with statuses and numbers alone.

    Other arguments are text of the collector, or of the network on the way to it.
    """
    arguments = record.args if isinstance(record.args, tuple) else ()
    shown = tuple(map(_shown, arguments))
    template = str(record.msg).partition("\n")[0]
    try:
        return _FIELD.sub("%s", template) % shown if shown else template
    except (TypeError, ValueError):
        return template


def _shown(argument: object) -> str:
    if isinstance(argument, grpc.StatusCode):
        return str(argument.name)
    return str(argument) if isinstance(argument, int | float) else "…"
