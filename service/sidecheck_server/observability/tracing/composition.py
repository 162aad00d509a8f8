"""Startup and shutdown of tracing."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from sidecheck_server.config.settings import UnusableSettingsError
from sidecheck_server.observability.tracing.instrumentation import Instrumentation
from sidecheck_server.observability.tracing.variables import check_variables, exporter_names

__all__ = ["running_tracing"]


@asynccontextmanager
async def running_tracing() -> AsyncIterator[Instrumentation]:
    """Trace within the context, if the variables of OpenTelemetry switch tracing on.

    Raises:
        UnusableSettingsError: a variable is invalid, or a required package is missing.
    """
    names = exporter_names()
    if not names:
        yield Instrumentation()
        return
    check_variables()
    async with AsyncExitStack() as stack:
        yield await _start(names, stack)


async def _start(names: Sequence[str], stack: AsyncExitStack) -> Instrumentation:
    """Import and start the SDK; *stack* stops it."""
    try:
        from sidecheck_server.observability.tracing.sdk import running_tracer, wrap  # noqa: PLC0415

        tracer = await stack.enter_async_context(running_tracer(names))
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(("opentelemetry", "otlp_proto")):
            raise
        raise UnusableSettingsError(
            f"tracing is switched on (exporter {', '.join(names)}) and needs other packages: "
            "pip install 'opentelemetry-sdk>=1.45,<2' "
            "'opentelemetry-exporter-otlp-proto-grpc>=1.45,<2' "
            "'opentelemetry-exporter-otlp-proto-http>=1.45,<2', or set OTEL_SDK_DISABLED to true"
        ) from None
    return wrap(tracer)
