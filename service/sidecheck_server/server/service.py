"""Composition root of the service: creates registry, workers, services and servers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict

import structlog
from prometheus_client.registry import Collector
from starlette.applications import Starlette

from sidecheck_server.admin.access import Access
from sidecheck_server.admin.application import Scrape, create_application, create_routes
from sidecheck_server.admin.http_methods import create_endpoints
from sidecheck_server.admin.page import create_page_routes
from sidecheck_server.admin.server import running_admin
from sidecheck_server.config.settings import Settings
from sidecheck_server.observability.metrics import (
    FleetCollector,
    LoadCollector,
    SharedCollector,
    register_process,
)
from sidecheck_server.observability.tracing.composition import running_tracing
from sidecheck_server.observability.tracing.instrumentation import Carrier
from sidecheck_server.registry.opening import open_registry
from sidecheck_server.registry.postgres.steps import (
    Reconnected,
    RegistryEvent,
    RegistryReloaded,
    RejectedDatabase,
    TermUnreadable,
    Unreachable,
)
from sidecheck_server.rpc.server import Server, check_addresses, check_exposure
from sidecheck_server.rpc.tls import read_certificates
from sidecheck_server.server.components import (
    ServingComponents,
    create_server,
    frozen_heap,
    read_tokens,
    running_methods,
)
from sidecheck_server.server.envoy.launcher import EnvoyLauncher
from sidecheck_server.server.processes.fleet import Fleet, MetricsByProcess
from sidecheck_server.server.processes.forwarded_tasks import SharedWorkers
from sidecheck_server.server.processes.launcher import Launcher, PythonLauncher
from sidecheck_server.server.worker_log import log_worker_event
from sidecheck_server.services.registration import Registrar, Registration
from sidecheck_server.workers import (
    Workers,
)

__all__ = ["running_service"]

_log = structlog.get_logger("sidecheck.service")


@asynccontextmanager
async def running_service(
    settings: Settings, preload: Sequence[Registration] = ()
) -> AsyncIterator[Server | Fleet]:
    """Run the service, which is ready when the block begins and drains at its end.

    The tools of *preload* are registered before the server listens; rejected tools are logged.

    Raises:
        AddressInUseError: an address is in use.
        RegistryInUse: another server has opened the registry's file.
        RegistryUnusable: the file or the database is not a registry, or cannot be used.
        WorkerStartError: no worker process can be started.
        ProcessStartError: a serving process cannot be started.
        RequestError: tools of *preload* exceed a quota, or cannot be stored.
        UnusableSettingsError: a file of TLS or of tokens cannot be used, tokens would cross a
            network in plain text, or a variable of tracing cannot be used.
    """
    async with AsyncExitStack() as stack:
        # These checks come before the workers, since workers that are stopped during their start
        # print tracebacks. gRPC, which binds the addresses, must start after the workers.
        certificates = read_certificates(settings)
        check_addresses(settings)
        check_exposure(settings)
        tokens = read_tokens(settings)
        registry = open_registry(
            settings.registry,
            settings.registry_quotas,
            settings.registry_history_seconds,
            _log_registry_event,
        )
        stack.callback(registry.close)
        tracing = await stack.enter_async_context(running_tracing())
        for exceeded in registry.exceeded_quotas():
            _log.warning("registry.over_quota", **asdict(exceeded))
        launcher: Launcher = (
            EnvoyLauncher(certificates)
            if settings.server == "envoy"
            else PythonLauncher(settings.event_loop)
        )
        stack.push_async_callback(launcher.close)
        # Spawn workers before gRPC starts threads.
        workers, own_settings, serving_settings = _create_workers(settings)
        stack.callback(workers.close)
        workers.subscribe(log_worker_event)
        await workers.start()
        components = await stack.enter_async_context(
            running_methods(own_settings, registry, workers.run, tokens, tracing)
        )
        for registration in preload:
            await _preload(components.services.registrar, registration)
        stack.enter_context(frozen_heap())
        served, metrics = components.served, components.metrics
        writer = components.services.registry_writer
        metrics.registry.register(SharedCollector(workers, components.registry, writer))
        server: Server | Fleet
        if isinstance(workers, SharedWorkers):
            server = fleet = Fleet(
                serving_settings,
                served,
                registry,
                components.services.changes,
                workers,
                launcher,
            )
            writer.await_followers = fleet.await_followers
            caches = {"artifacts": workers.artifacts}
            is_envoy = settings.server == "envoy"
            load = LoadCollector(
                served, components.services, certificates if is_envoy else None, caches
            )

            async def scrape() -> Collector:
                own_metrics = list(metrics.registry.collect())
                return MetricsByProcess({0: own_metrics, **await fleet.collect()})

        else:
            server = create_server(own_settings, components, certificates)
            load = LoadCollector(served, components.services, certificates)

            async def scrape() -> Collector:
                return metrics.registry

        metrics.registry.register(FleetCollector(server if isinstance(server, Fleet) else None))
        register_process(metrics.registry, load)
        if settings.admin_listen:
            connections = settings.transport.connections
            application = _create_http(settings, components, scrape)
            await stack.enter_async_context(
                running_admin(application, settings.admin_listen, connections)
            )
        workers.subscribe(lambda event: server.report_workers(event.alive))
        server.report_workers(workers.alive)
        await server.start()
        stack.push_async_callback(server.stop)
        server.report_ready()
        yield server


def _create_workers(settings: Settings) -> tuple[Workers, Settings, Settings]:
    """Return the workers, and the settings of this and of serving processes.

    The processes divide the memory into equal shares. Half of the share of this process is for
    the cache of compilations that all processes use.
    """
    count, limits = settings.workers, settings.limits
    if not settings.has_serving_processes:
        return Workers(count, limits), settings, settings
    share = settings.memory_bytes // (settings.processes + 1)
    serving_settings = settings.model_copy(update={"memory_bytes": share})
    own_settings = settings.model_copy(update={"memory_bytes": share // 2})
    return SharedWorkers(count, limits, share // 2), own_settings, serving_settings


def _create_http(settings: Settings, components: ServingComponents, scrape: Scrape) -> Starlette:
    served = components.served
    access = Access(settings.admin_listen, components.authorizer, is_open=settings.admin_open)
    methods = components.tracing.methods(Carrier.HTTP)(served.api)
    endpoints = create_endpoints(
        methods, served.admission, components.metrics, access, settings.limits
    )
    routes = [*create_routes(endpoints, access), *create_page_routes(access)]
    return create_application(scrape, lambda: served.health.is_serving, access, routes)


def _log_registry_event(event: RegistryEvent) -> None:
    """Log an event of a registry on PostgreSQL; called in any thread."""
    match event:
        case Unreachable(detail):
            _log.warning("registry.unreachable", detail=detail)
        case RejectedDatabase(detail):
            _log.warning("registry.rejected", detail=detail)
        case TermUnreadable(functions):
            _log.warning("registry.term_unreadable", functions=functions)
        case Reconnected(seconds, revision):
            _log.info("registry.reconnected", seconds=seconds, revision=revision)
        case RegistryReloaded(previous_revision, revision):
            _log.warning(
                "registry.reloaded", previous_revision=previous_revision, revision=revision
            )


async def _preload(registrar: Registrar, registration: Registration) -> None:
    """Register *registration*; the log identifies tools by their position in the file."""
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
