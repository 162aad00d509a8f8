"""The gRPC server: its addresses, its start and its shutdown."""

from collections.abc import Callable, Iterable

import grpc
import structlog
from grpc_health.v1 import health

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.config.addresses import Address
from sidecheck_server.config.settings import Settings, UnusableSettingsError
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.grpc_methods import add_methods
from sidecheck_server.rpc.health import health_methods, reflection_methods
from sidecheck_server.rpc.method_table import Method
from sidecheck_server.rpc.servicers import ServedMethods
from sidecheck_server.rpc.shutdown import Shutdown
from sidecheck_server.rpc.sockets import (
    bind_tcp,
    bind_unix,
    check_tcp,
    check_unix,
    remove_socket,
    set_mode,
)
from sidecheck_server.rpc.tls import ServerCertificates

__all__ = [
    "Server",
    "check_addresses",
    "check_exposure",
    "report_ready",
    "server_options",
]

_exposure_log = structlog.get_logger("sidecheck.server")


def check_exposure(settings: Settings) -> None:
    """Check that tokens are not sent in plain text; warn of open remote access.

    Raises:
        UnusableSettingsError: tokens would cross a network in plain text, and the settings do
            not allow that.
    """
    is_encrypted = settings.tls_certificate is not None
    if settings.listen and not Address.parse(settings.listen).is_loopback():
        _check_address(settings, settings.listen, is_encrypted=is_encrypted)
    if (
        settings.admin_listen
        and settings.admin_open
        and not Address.parse(settings.admin_listen).is_loopback()
    ):
        _check_address(settings, settings.admin_listen, is_encrypted=False)


def _check_address(settings: Settings, address: str, *, is_encrypted: bool) -> None:
    if settings.tokens_file is None:
        if not (is_encrypted and settings.tls_client_ca is not None):
            _exposure_log.warning("server.unauthenticated", address=address)
    elif not (is_encrypted or settings.tokens_without_tls):
        raise UnusableSettingsError(
            f"invalid settings: tokens_file: tokens for {address} would pass the network "
            "in plain text; listen on a loopback address or a unix socket, behind a proxy that "
            "terminates TLS, or set tokens_without_tls where the network itself is encrypted"
        )


_HANDSHAKE_SECONDS = 5
_KEEPALIVE_SECONDS = 60
_KEEPALIVE_TIMEOUT_SECONDS = 20


def server_options(limits: TransportLimits, message_bytes: int) -> list[tuple[str, int]]:
    """Return the gRPC options for *limits* and messages of at most *message_bytes*."""
    return [
        ("grpc.max_receive_message_length", message_bytes),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        ("grpc.max_concurrent_streams", limits.connection_calls),
        # When the queue is full, gRPC cancels calls, and clients take that for a cancellation of
        # their own. Calls of closed connections stay in the queue until their turn. So the queue
        # is longer than the usual deadlines require.
        ("grpc.server.max_pending_requests", limits.pending_calls),
        ("grpc.server.max_pending_requests_hard_limit", limits.pending_calls),
        ("grpc.max_connection_idle_ms", limits.connection_idle_seconds * 1000),
        ("grpc.max_connection_age_ms", limits.connection_age_seconds * 1000),
        ("grpc.max_connection_age_grace_ms", limits.connection_end_seconds * 1000),
        ("grpc.server_handshake_timeout_ms", _HANDSHAKE_SECONDS * 1000),
        ("grpc.max_metadata_size", limits.metadata_bytes),
        ("grpc.absolute_max_metadata_size", limits.metadata_bytes),
        # Detects peers that no longer read their socket, since they do not answer pings either.
        ("grpc.keepalive_time_ms", _KEEPALIVE_SECONDS * 1000),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_TIMEOUT_SECONDS * 1000),
        # By default gRPC enlarges the windows of fast connections to megabytes for each stream,
        # and peers could fill them with messages that no handler reads.
        ("grpc.http2.bdp_probe", 0),
        # Sidecheck's clients ping idle connections every 30 s; the default minimum would make
        # gRPC answer with GOAWAY too_many_pings.
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ]


_NEVER_SECONDS = 1e9

_log = structlog.get_logger("sidecheck.server")


def check_addresses(settings: Settings) -> None:
    """Check that a server can listen on the addresses of *settings*.

    Raises:
        AddressInUseError: an address is in use.
    """
    if settings.listen:
        check_tcp(settings.listen)
    if settings.unix_socket is not None:
        check_unix(settings.unix_socket)


def report_ready(settings: Settings, addresses: list[str]) -> None:
    """Log that a server with *settings* is serving at *addresses*, TCP first."""
    if (
        settings.listen
        and settings.tls_certificate is None
        and not Address.parse(settings.listen).is_loopback()
    ):
        _log.warning("server.plaintext", address=addresses[0])
    _log.info(
        "server.ready",
        addresses=addresses,
        server=settings.server,
        event_loop=settings.event_loop,
    )


class Server:
    """Serves methods over gRPC until it is stopped."""

    def __init__(
        self,
        settings: Settings,
        served: ServedMethods,
        metrics: CallMetrics,
        authorizer: Authorizer,
        certificates: ServerCertificates | None = None,
        trace: Callable[[Iterable[Method]], Iterable[Method]] = lambda methods: methods,
    ) -> None:
        """Create the server; without *certificates* it speaks plain text.

        *trace* returns methods whose handlers create spans.
        """
        self._settings = settings
        self._served = served
        self._certificates = certificates
        self._shutdown = Shutdown(settings, served)
        options = server_options(settings.transport, settings.limits.message_bytes)
        #: Whether other processes of the service listen on the same TCP address.
        self._is_shared = settings.processes > 1
        options.append(("grpc.so_reuseport", int(self._is_shared)))
        server: grpc.aio.Server = grpc.aio.server(options=options)
        self._server = server
        admission = served.admission
        add_methods(server, trace(served.api), admission, metrics, authorizer)
        add_methods(server, trace(served.gateways), admission, metrics, authorizer)
        health_checks = health_methods(served.health)
        add_methods(server, health_checks, admission, metrics, authorizer, exempt=True)
        if settings.reflection:
            names = (*served.service_names, health.SERVICE_NAME)
            reflection = reflection_methods(names, served.streams)
            add_methods(server, reflection, admission, metrics, authorizer)
        self.addresses: list[str] = []
        #: Whether connections remained open when the server stopped.
        self.is_abandoned = False

    async def start(self) -> None:
        """Bind the addresses and accept calls; health does not report serving yet.

        Raises:
            AddressInUseError: an address is in use.
        """
        if self._settings.listen:
            credentials = self._certificates.credentials() if self._certificates else None
            address = bind_tcp(
                self._server, self._settings.listen, credentials, shared=self._is_shared
            )
            self.addresses.append(address)
        if self._settings.unix_socket is not None:
            path = self._settings.unix_socket
            self.addresses.append(bind_unix(self._server, path))
        await self._server.start()
        self._served.admission.start()
        if self._settings.unix_socket is not None:
            set_mode(self._settings.unix_socket, int(self._settings.unix_socket_mode, 8))

    def report_ready(self) -> None:
        """Report in health and log that the server is serving."""
        self._served.health.set_serving(serving=True)
        report_ready(self._settings, self.addresses)

    def report_workers(self, alive: int) -> None:
        """Report in health whether any worker process is *alive*."""
        self._served.report_workers(alive)

    async def stop(self) -> None:
        """Report that the server is not serving, let active calls finish, and stop.

        If connections do not end in time, the stop returns without them and sets *is_abandoned*.
        """
        self.is_abandoned = await self._shutdown.run(self._end_when_idle, self._cancel)
        if self._settings.unix_socket is not None:
            remove_socket(self._settings.unix_socket)
        _log.info("server.stopped")

    def hurry(self) -> None:
        """Make `stop` skip the rest of the drain period, and shorten the grace period."""
        self._shutdown.hurry()

    async def _end_when_idle(self) -> None:
        await self._server.stop(_NEVER_SECONDS)

    async def _cancel(self) -> None:
        await self._server.stop(None)
