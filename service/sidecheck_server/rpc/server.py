"""The gRPC server: its services, its addresses, its start and its shutdown."""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import grpc
import structlog
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.grpc_methods import add_methods
from sidecheck_server.rpc.health import HealthServicer
from sidecheck_server.rpc.method_table import methods_of
from sidecheck_server.rpc.server_options import server_options
from sidecheck_server.rpc.servicers import INFO, SERVICES, create_servicers
from sidecheck_server.rpc.sockets import (
    bind_tcp,
    bind_unix,
    check_tcp,
    check_unix,
    is_loopback,
    remove_socket,
    set_mode,
)
from sidecheck_server.rpc.standard import health_methods, reflection_methods
from sidecheck_server.rpc.streams import OpenStreams
from sidecheck_server.rpc.tls import ServerCertificates
from sidecheck_server.services.container import Services
from sidecheck_server.settings import Settings

__all__ = ["HURRIED_GRACE_SECONDS", "Server", "check_addresses"]

HURRIED_GRACE_SECONDS = 1.0
"""The grace period, at most, after the stop was hurried."""

_ANSWER_SECONDS = 0.25
"""How long the calls that are ended may take to send their status."""

_CANCEL_SECONDS = 0.25
"""How long gRPC may take to end the calls that it cancels."""

_NEVER_SECONDS = 1e9

_log = structlog.get_logger("sidecheck.server")


def check_addresses(settings: Settings) -> None:
    """Check that a server can listen on the addresses of *settings*.

    Raises:
        AddressInUseError: an address is taken.
    """
    if settings.listen:
        check_tcp(settings.listen)
    if settings.unix_socket is not None:
        check_unix(settings.unix_socket)


class Server:
    """Serves *services* over gRPC, and gateways, until it is stopped."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        services: Services,
        create_gateways: Callable[[OpenStreams], Mapping[ServiceDescriptor, object]],
        metrics: CallMetrics,
        authorizer: Authorizer,
        certificates: ServerCertificates | None = None,
    ) -> None:
        """Create the server; without *certificates* it speaks plain text."""
        limits = settings.limits
        self._settings = settings
        self.certificates = certificates
        self.admission = admission = Admission(settings.transport)
        self.streams = streams = OpenStreams(admission.gate, settings.transport, admission.shed)
        options = server_options(settings.transport, limits.message_bytes)
        self._server: grpc.aio.Server = grpc.aio.server(options=options)
        self.health = HealthServicer(SERVICES, without_workers={INFO})
        server = self._server
        servicers = create_servicers(services, registry, limits, streams)
        gateways = create_gateways(streams)
        #: The methods of the API, for other transports.
        self.methods = tuple(methods_of(servicers.items()))
        add_methods(server, self.methods, admission, metrics, authorizer)
        add_methods(server, methods_of(gateways.items()), admission, metrics, authorizer)
        health_checks = health_methods(self.health)
        add_methods(server, health_checks, admission, metrics, authorizer, exempt=True)
        if settings.reflection:
            names = (*SERVICES, *(each.full_name for each in gateways), health.SERVICE_NAME)
            reflection = reflection_methods(names, streams)
            add_methods(server, reflection, admission, metrics, authorizer)
        self._hurried = asyncio.Event()
        self.addresses: list[str] = []
        self.is_abandoned = False

    async def start(self) -> None:
        """Bind the addresses and accept calls; health does not report serving yet.

        Raises:
            AddressInUseError: an address is taken.
        """
        if self._settings.listen:
            credentials = self.certificates.credentials() if self.certificates else None
            address = bind_tcp(self._server, self._settings.listen, credentials)
            self.addresses.append(address)
            if credentials is None and not is_loopback(self._settings.listen):
                _log.warning("server.plaintext", address=address)
        if self._settings.unix_socket is not None:
            path = self._settings.unix_socket
            self.addresses.append(bind_unix(self._server, path))
        await self._server.start()
        self.admission.start()
        if self._settings.unix_socket is not None:
            set_mode(self._settings.unix_socket, int(self._settings.unix_socket_mode, 8))

    def report_ready(self) -> None:
        """Report in health and log that the server is serving."""
        self.health.set_serving(serving=True)
        event_loop = type(asyncio.get_running_loop()).__module__.partition(".")[0]
        _log.info("server.ready", addresses=self.addresses, event_loop=event_loop)

    def report_workers(self, alive: int) -> None:
        """Report in health whether any worker process is *alive*."""
        self.health.set_workers_alive(alive=alive > 0)

    async def stop(self) -> None:
        """Report that the server is not serving, let active calls finish, and stop.

        Calls that arrive after the drain period, and those that are active at the end of
        the grace period, fail with UNAVAILABLE, and clients retry them elsewhere. What
        does not end then is left behind, and *is_abandoned* is true: gRPC waits for peers
        that neither read nor close their connections for as long as they like.
        """
        _log.info("server.draining")
        self.health.set_serving(serving=False)
        await self._wait_unless_hurried(self._settings.drain_seconds)
        grace_ends = time.monotonic() + self._settings.grace_seconds
        await self.admission.gate.close()
        self.streams.end()
        self.health.end()
        # The gate ends the calls, because gRPC would cancel them.
        stopping = asyncio.create_task(self._end_when_idle())
        await self._wait_unless_hurried(grace_ends - time.monotonic(), stopping)
        if not stopping.done():
            self.admission.gate.end_calls()
            await asyncio.wait({stopping}, timeout=_ANSWER_SECONDS)
        if not stopping.done():
            cancelling = asyncio.create_task(self._server.stop(None))
            await asyncio.wait({stopping, cancelling}, timeout=_CANCEL_SECONDS)
        self.admission.stop()
        if self._settings.unix_socket is not None:
            remove_socket(Path(self._settings.unix_socket))
        self.is_abandoned = not stopping.done()
        if self.is_abandoned:
            _log.warning("server.abandoned")
        else:
            stopping.result()
        _log.info("server.stopped")

    async def _end_when_idle(self) -> None:
        """Stop gRPC once its calls have ended; wait for those of other transports as well."""
        await self._server.stop(_NEVER_SECONDS)
        await self.admission.gate.drain()

    def hurry(self) -> None:
        """Let `stop` skip what is left of the drain period, and shorten the grace period."""
        self._hurried.set()

    async def _wait_unless_hurried(
        self, seconds: float, task: asyncio.Task[None] | None = None
    ) -> None:
        """Wait for *seconds*, or until *task* is done; not for long once the stop is hurried."""
        hurried = asyncio.create_task(self._hurried.wait())
        tasks = {hurried} if task is None else {hurried, task}
        await asyncio.wait(tasks, timeout=max(seconds, 0), return_when=asyncio.FIRST_COMPLETED)
        if hurried.done() and task is not None:
            await asyncio.wait({task}, timeout=min(max(seconds, 0), HURRIED_GRACE_SECONDS))
        hurried.cancel()
