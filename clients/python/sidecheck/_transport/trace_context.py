"""Trace context of callers that use OpenTelemetry, as metadata of their calls."""

import sys
from typing import Final

__all__ = ["trace_metadata"]

API: Final = "opentelemetry.trace"


def trace_metadata() -> tuple[tuple[str, str], ...]:
    """Return the current span in the form of the configured propagators.

    The API of OpenTelemetry is not imported here, since a process without it has no current
    span.
    """
    trace = sys.modules.get(API)
    if trace is None or not trace.get_current_span().get_span_context().is_valid:
        return ()
    from opentelemetry import propagate  # noqa: PLC0415

    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    # gRPC requires names of metadata in lower case.
    return tuple((name.lower(), value) for name, value in carrier.items())
