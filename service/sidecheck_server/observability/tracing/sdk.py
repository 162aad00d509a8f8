"""Tracer and exporters of the SDK of OpenTelemetry."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from importlib.metadata import entry_points
from typing import Final

import structlog
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Tracer

from sidecheck_server import __version__
from sidecheck_server.config.settings import UnusableSettingsError
from sidecheck_server.observability.tracing.calls import CallTracer
from sidecheck_server.observability.tracing.instrumentation import (
    Carrier,
    Instrumentation,
    TraceMethods,
)
from sidecheck_server.observability.tracing.services import (
    TracedResolver,
    TracedSchemas,
    TracedValidator,
    trace_tasks,
)
from sidecheck_server.observability.tracing.spans import LIBRARY, ChildSpans, ExportFailures
from sidecheck_server.observability.tracing.variables import EXPORTERS, otlp_protocol
from sidecheck_server.services.container import ServiceClasses

__all__ = [
    "running_tracer",
    "wrap",
]


def wrap(tracer: Tracer) -> Instrumentation:
    """Return the instrumentation that creates spans with *tracer*."""
    spans, calls = ChildSpans(tracer), CallTracer(tracer)
    classes = ServiceClasses(
        schemas=partial(TracedSchemas, spans),
        resolver=partial(TracedResolver, spans),
        validator=partial(TracedValidator, spans),
    )

    def methods(carrier: Carrier) -> TraceMethods:
        return partial(calls.trace, carrier=carrier)

    return Instrumentation(classes, partial(trace_tasks, spans), methods, calls.observe)


_SERVICE: Final = "sidecheck"

_FLUSH_SECONDS: Final = 1.0
"""Longest time that the end of the server waits for the export of the last spans."""

_CLOSE_SECONDS: Final = 0.1
"""Longest time after that for an exporter to close."""

_log = structlog.get_logger("sidecheck.tracing")


@asynccontextmanager
async def running_tracer(names: Sequence[str]) -> AsyncIterator[Tracer]:
    """Yield a tracer for the exporters *names*; export the remaining spans at the end.

    Raises:
        ModuleNotFoundError: a package of an exporter is not installed.
        UnusableSettingsError: a variable of the SDK, or of an exporter, is invalid.
    """
    with _only_handler(ExportFailures()):
        provider, exporters = _create_provider(names)
        try:
            yield provider.get_tracer("sidecheck_server", __version__)
        finally:
            await _stop(provider, exporters)


def _create_provider(names: Sequence[str]) -> tuple[TracerProvider, list[SpanExporter]]:
    """Return a provider, and its exporters."""
    warnings = _Warnings()
    try:
        with _only_handler(warnings):
            provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
            exporters = [_load_exporter(name)() for name in names if name != "none"]
            for exporter in exporters:
                provider.add_span_processor(BatchSpanProcessor(exporter))
    except (ModuleNotFoundError, UnusableSettingsError):
        raise
    except Exception as error:  # noqa: BLE001  (exporters may raise any exception)
        raise UnusableSettingsError(f"tracing cannot start: {error}") from None
    if warnings.messages:
        provider.shutdown()
        raise UnusableSettingsError(f"tracing cannot start: {warnings.messages[0]}")
    return provider, exporters


def _resource() -> Resource:
    """Return the resource of the spans: from the variables, by default this service."""
    resource = Resource.create()
    attributes = {SERVICE_VERSION: __version__}
    # https://opentelemetry.io/docs/specs/semconv/resource/#service
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: _SERVICE}))
    return Resource(attributes).merge(resource)


def _load_exporter(name: str) -> Callable[[], SpanExporter]:
    if name == "otlp":
        name = f"otlp_proto_{'grpc' if otlp_protocol() == 'grpc' else 'http'}"
    for entry_point in entry_points(group=EXPORTERS, name=name):
        exporter: Callable[[], SpanExporter] = entry_point.load()
        return exporter
    raise ModuleNotFoundError(name=name)


class _Warnings(logging.Handler):
    """Collects the warnings of the SDK, which replaces invalid values by defaults."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message of *record*."""
        self.messages.append(record.getMessage().partition("\n")[0])


@contextmanager
def _only_handler(handler: logging.Handler) -> Iterator[None]:
    """Pass the log records of the library only to *handler* within the context."""
    logger = logging.getLogger(LIBRARY)
    handlers, propagates = logger.handlers, logger.propagate
    logger.handlers, logger.propagate = [handler], False
    try:
        yield
    finally:
        logger.handlers, logger.propagate = handlers, propagates


async def _stop(provider: TracerProvider, exporters: Sequence[SpanExporter]) -> None:
    """Export the remaining spans, without waiting for an unresponsive collector."""
    if await _finish(provider.shutdown, _FLUSH_SECONDS):
        return
    _log.warning("tracing.unfinished")
    for exporter in exporters:
        # Ends the pending export.
        await _finish(exporter.shutdown, _CLOSE_SECONDS)


async def _finish(function: Callable[[], None], seconds: float) -> bool:
    """Call *function* in a thread, and return whether it returned within *seconds*.

    It is a daemon thread, because the exit of the interpreter joins threads of executors.
    """
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def run() -> None:
        try:
            function()
        finally:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(done.cancel)

    threading.Thread(target=run, name="tracing", daemon=True).start()
    await asyncio.wait({done}, timeout=seconds)
    return done.done()
