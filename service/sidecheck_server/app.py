"""Composition root: creates the registry, the workers, the services, and what serves them."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict

import structlog
from sidecheck import Client
from starlette.routing import BaseRoute

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.access.tokens import UnusableTokensError
from sidecheck_server.access.tokens_file import TokensFile
from sidecheck_server.admin.access import Access
from sidecheck_server.admin.application import create_application
from sidecheck_server.admin.http_methods import create_endpoints
from sidecheck_server.admin.page import create_page_routes
from sidecheck_server.admin.routes import create_routes
from sidecheck_server.admin.server import running_admin
from sidecheck_server.gateways.composition import running_gateways
from sidecheck_server.metrics import StateCollector, register_state
from sidecheck_server.registry.namespaced import NamespacedRegistry
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.exposure import check_exposure
from sidecheck_server.rpc.local import LocalTransport
from sidecheck_server.rpc.server import Server, check_addresses
from sidecheck_server.rpc.tls import read_certificates
from sidecheck_server.services.container import ServiceOptions, create_services
from sidecheck_server.services.registration import Registrar, Registration
from sidecheck_server.settings import Settings, UnusableSettingsError
from sidecheck_server.workers import (
    WorkerDied,
    WorkerEvent,
    WorkerRestarted,
    Workers,
    WorkerStartFailed,
)

__all__ = ["running_client", "running_service"]

_LOCAL_SECONDS = 60.0
"""The deadline of calls in this process; their limits end them long before."""

_log = structlog.get_logger("sidecheck.service")


@asynccontextmanager
async def running_service(
    settings: Settings, preload: Sequence[Registration] = ()
) -> AsyncIterator[Server]:
    """Run the service: it is ready when the block is entered, and drains when it is left.

    The tools of *preload* are registered before the server listens. Those that are
    rejected are logged.

    Raises:
        AddressInUseError: an address is taken.
        RegistryInUse: another server has opened the registry's file.
        RegistryUnusable: the file is not a registry.
        WorkerStartError: no worker process can be started.
        GatewayUnavailableError: the packages that a gateway needs are not installed.
        RequestError: tools of *preload* exceed a quota, or cannot be stored.
        UnusableSettingsError: a file of TLS or of tokens cannot be used, or tokens would pass
            a network in plain text.
    """
    async with AsyncExitStack() as stack:
        # Workers that are stopped while they start print tracebacks. So what can be known
        # to fail fails before; gRPC, which binds the addresses, must come after.
        certificates = read_certificates(settings)
        check_addresses(settings)
        check_exposure(settings)
        tokens = _read_tokens(settings)
        opened = open_registry(settings.registry, settings.registry_quotas)
        stack.callback(opened.close)
        registry = opened if tokens is None else NamespacedRegistry(opened)
        for exceeded in registry.exceeded_quotas():
            _log.warning("registry.over_quota", **asdict(exceeded))
        # Processes are spawned before gRPC has threads.
        workers = Workers(settings.workers, settings.limits)
        stack.callback(workers.close)
        workers.subscribe(_log_worker_event)
        await workers.start()
        options = _service_options(settings)
        services = create_services(registry, workers, settings.limits, options, _report_registry)
        for registration in preload:
            await _preload(services.registrar, registration)
        stack.enter_context(_frozen_heap())
        metrics = CallMetrics()
        create_gateways = await stack.enter_async_context(
            running_gateways(
                settings.gateways,
                settings.gateway_policies,
                LocalTransport(services, registry, settings.limits, metrics),
                settings.limits.payload_bytes,
                metrics.registry,
            )
        )
        authorizer = Authorizer(tokens)
        server = Server(
            settings, registry, services, create_gateways, metrics, authorizer, certificates
        )
        if tokens is not None:
            stack.push_async_callback(_end, asyncio.create_task(tokens.watch()))
        register_state(metrics.registry, StateCollector(server, services, workers, registry))
        if settings.admin_listen:
            routes = _http_routes(settings, server, metrics, authorizer)
            application = create_application(
                metrics.registry, lambda: server.health.is_serving, routes
            )
            await stack.enter_async_context(
                running_admin(application, settings.admin_listen, settings.transport.connections)
            )
        workers.subscribe(lambda event: server.report_workers(event.alive))
        server.report_workers(workers.alive)
        await server.start()
        stack.push_async_callback(server.stop)
        server.report_ready()
        yield server


@asynccontextmanager
async def running_client(settings: Settings) -> AsyncIterator[Client]:
    """Run the services in this process, with a registry in memory; yield a client of them.

    The client can be used at once: what needs a worker process waits for the first to start.
    """
    async with AsyncExitStack() as stack:
        registry = open_registry(None, settings.registry_quotas)
        stack.callback(registry.close)
        workers = Workers(settings.workers, settings.limits)
        stack.callback(workers.close)
        workers.subscribe(_log_worker_event)
        starting = asyncio.create_task(workers.start())
        stack.push_async_callback(_end, starting)
        services = create_services(registry, workers, settings.limits, _service_options(settings))
        transport = LocalTransport(services, registry, settings.limits)
        yield await stack.enter_async_context(Client(transport, timeout=_LOCAL_SECONDS))


def _http_routes(
    settings: Settings, server: Server, metrics: CallMetrics, authorizer: Authorizer
) -> list[BaseRoute]:
    access = Access(settings.admin_listen, authorizer, is_open=settings.admin_open)
    endpoints = create_endpoints(server.methods, server.admission, metrics, access, settings.limits)
    return [*create_routes(endpoints), *create_page_routes(access)]


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel *task*; its failure is in the log already."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _read_tokens(settings: Settings) -> TokensFile | None:
    """Return the tokens of *settings*, None if callers need none.

    Raises:
        UnusableSettingsError: their file cannot be used.
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


def _report_tokens(tokens: int, fault: str | None) -> None:
    """Log that the file of tokens has changed, and cannot be used because of *fault*, or can."""
    if fault is None:
        _log.info("tokens.reloaded", tokens=tokens)
    else:
        _log.error("tokens.reload_failed", tokens=tokens, detail=fault)


def _service_options(settings: Settings) -> ServiceOptions:
    return ServiceOptions(
        settings.memory_bytes,
        frozenset(settings.report_only),
        settings.inference,
        settings.protocol_version,
    )


def _log_worker_event(event: WorkerEvent) -> None:
    match event:
        case WorkerDied(cause, exit_, idle, alive):
            _log.warning("worker.died", cause=cause, exit=exit_, idle=idle, alive=alive)
        case WorkerRestarted(alive):
            _log.info("worker.restarted", alive=alive)
        case WorkerStartFailed(cause, detail, seconds, alive):
            _log.error(
                "worker.start_failed",
                cause=cause,
                detail=detail,
                retry_seconds=seconds,
                alive=alive,
            )


def _report_registry(failure: str | None) -> None:
    """Log that the registry cannot be written because of *failure*, or can again."""
    if failure is None:
        _log.info("registry.recovered")
    else:
        _log.error("registry.unusable", detail=failure)


@contextmanager
def _frozen_heap() -> Iterator[None]:
    """Keep the objects that exist from the garbage collector, which holds the event loop.

    They are mostly modules, which live as long as the process; looking at them all takes
    60 milliseconds.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


async def _preload(registrar: Registrar, registration: Registration) -> None:
    """Register *registration*; the log names tools by their position in the file alone."""
    outcomes = (await registrar.register(registration)).outcomes
    rejected = [position for position, tool in enumerate(outcomes) if tool.action is None]
    for position in rejected:
        codes = sorted({violation.code for violation in outcomes[position].violations})
        _log.warning("preload.rejected", server=registration.server, tool=position, codes=codes)
    _log.info(
        "preload.registered",
        server=registration.server,
        tools=len(outcomes) - len(rejected),
        rejected=len(rejected),
    )
