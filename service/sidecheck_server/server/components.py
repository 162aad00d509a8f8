"""Components of every process that serves methods."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib import import_module

import structlog

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.access.namespaced_registry import NamespacedRegistry
from sidecheck_server.access.tokens import TokensFile, UnusableTokensError
from sidecheck_server.config.settings import Settings, UnusableSettingsError
from sidecheck_server.gateways.composition import counted_checks, running_gateways
from sidecheck_server.observability.tracing.instrumentation import Carrier, Instrumentation
from sidecheck_server.proxy.checks.local_registry import LocalRegistryChecks
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.server import Server
from sidecheck_server.rpc.servicers import ServedMethods
from sidecheck_server.rpc.tls import ServerCertificates
from sidecheck_server.services.container import ServiceOptions, Services, create_services
from sidecheck_server.workers.tasks import RunTask

__all__ = [
    "ServingComponents",
    "create_server",
    "end_task",
    "frozen_heap",
    "loop_factory",
    "read_tokens",
    "running_methods",
    "service_options",
]


def loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    """Return a factory of event loops of *name*, "asyncio" or "uvloop".

    Raises:
        UnusableSettingsError: the package of the event loop is not installed.
    """
    if name == "asyncio":
        return asyncio.new_event_loop
    try:
        module = import_module(name)
    except ModuleNotFoundError:
        raise UnusableSettingsError(
            f"invalid settings: event_loop: {name} is not installed: "
            "pip install 'uvloop>=0.22,<1', or set event_loop to asyncio"
        ) from None
    factory: Callable[[], asyncio.AbstractEventLoop] = module.new_event_loop
    return factory


_log = structlog.get_logger("sidecheck.service")


@dataclass(frozen=True, slots=True)
class ServingComponents:
    """The parts of a process that serves methods."""

    registry: Registry
    services: Services
    served: ServedMethods
    metrics: CallMetrics
    authorizer: Authorizer
    tracing: Instrumentation


@asynccontextmanager
async def running_methods(
    settings: Settings,
    shared_registry: Registry,
    run: RunTask,
    tokens: TokensFile | None,
    tracing: Instrumentation,
) -> AsyncIterator[ServingComponents]:
    """Yield the components that serve *shared_registry*; *run* executes tasks."""
    registry = shared_registry if tokens is None else NamespacedRegistry(shared_registry)
    services = create_services(
        registry,
        tracing.tasks(run),
        settings.limits,
        service_options(settings),
        _report_registry,
        tracing.classes,
    )
    metrics = CallMetrics()
    async with AsyncExitStack() as stack:
        create_gateways = await stack.enter_async_context(
            running_gateways(
                settings.gateways,
                settings.gateway_policies,
                LocalRegistryChecks(
                    services, settings.limits, counted_checks(metrics, tracing.checks)
                ),
                settings.limits.payload_bytes,
                metrics.registry,
            )
        )
        served = ServedMethods(settings, registry, services, create_gateways)
        if tokens is not None:
            stack.push_async_callback(end_task, asyncio.create_task(tokens.watch()))
        yield ServingComponents(registry, services, served, metrics, Authorizer(tokens), tracing)


def create_server(
    settings: Settings, components: ServingComponents, certificates: ServerCertificates | None
) -> Server:
    """Return the gRPC server of *components*, without TLS if *certificates* is None."""
    trace = components.tracing.methods(Carrier.GRPC)
    return Server(
        settings, components.served, components.metrics, components.authorizer, certificates, trace
    )


def service_options(settings: Settings) -> ServiceOptions:
    """Return the options of the services in *settings*."""
    return ServiceOptions(
        settings.memory_bytes,
        frozenset(settings.report_only),
        settings.inference,
        settings.protocol_version,
        settings.registry_history_seconds,
    )


def read_tokens(settings: Settings) -> TokensFile | None:
    """Return the tokens of *settings*, or None if callers need no token.

    Raises:
        UnusableSettingsError: the file of tokens cannot be used.
    """
    if settings.tokens_file is None:
        return None
    tokens = TokensFile(settings.tokens_file, _report_tokens)
    try:
        tokens.load()
    except UnusableTokensError as error:
        raise UnusableSettingsError(
            f"invalid settings: tokens_file: {settings.tokens_file} {error}"
        ) from None
    return tokens


async def end_task(task: asyncio.Task[None]) -> None:
    """Cancel *task* and ignore its exception, which it has logged."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@contextmanager
def frozen_heap() -> Iterator[None]:
    """Exclude the current objects from garbage collection during the block.

    They are mostly modules, which live as long as the process. Traversing them would block the
    event loop for 60 milliseconds.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _report_tokens(tokens: int, fault: str | None) -> None:
    """Log that the file of tokens was reloaded, or could not be because of *fault*."""
    if fault is None:
        _log.info("tokens.reloaded", tokens=tokens)
    else:
        _log.error("tokens.reload_failed", tokens=tokens, detail=fault)


def _report_registry(failure: str | None) -> None:
    """Log that the registry cannot be written because of *failure*, or can again."""
    if failure is None:
        _log.info("registry.recovered")
    else:
        _log.error("registry.unusable", detail=failure)
