"""Wrappers of all that is traced, around one tracer."""

from functools import partial

from opentelemetry.trace import Tracer

from sidecheck_server.observability.tracing.calls import CallTracer
from sidecheck_server.observability.tracing.instrumentation import (
    Carrier,
    Instrumentation,
    TraceMethods,
)
from sidecheck_server.observability.tracing.services import (
    TracedResolver,
    TracedSchemas,
    TracedTasks,
    TracedValidator,
)
from sidecheck_server.observability.tracing.spans import ChildSpans
from sidecheck_server.services.container import ServiceClasses

__all__ = ["wrap"]


def wrap(tracer: Tracer) -> Instrumentation:
    """Return parts that make spans by *tracer*."""
    spans, calls = ChildSpans(tracer), CallTracer(tracer)
    classes = ServiceClasses(
        schemas=partial(TracedSchemas, spans),
        resolver=partial(TracedResolver, spans),
        validator=partial(TracedValidator, spans),
    )

    def methods(carrier: Carrier) -> TraceMethods:
        return partial(calls.trace, carrier=carrier)

    return Instrumentation(classes, partial(TracedTasks, spans), methods, calls.observe)
