"""Trace context of a caller that uses OpenTelemetry, as metadata of its calls."""

import sys
from typing import Final

__all__ = ["trace_metadata"]

API: Final = "opentelemetry.trace"


def trace_metadata() -> tuple[tuple[str, str], ...]:
    """Return the current span in the form of the propagators that the process has.

    Nothing is imported here: a process that has not imported the API has no current span.
    """
    trace = sys.modules.get(API)
    if trace is None or not trace.get_current_span().get_span_context().is_valid:
        return ()
    from opentelemetry import propagate  # noqa: PLC0415

    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    # Names of metadata are in lower case.
    return tuple((name.lower(), value) for name, value in carrier.items())
