"""The gRPC server: its services, its addresses, its start and its shutdown."""

import asyncio
from pathlib import Path

import grpc
import structlog
from grpc_health.v1 import health
from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    validation_service_pb2,
)

from sidecheck_server.registry import Registry
from sidecheck_server.rpc.conversion import ConversionServicer
from sidecheck_server.rpc.health import HealthServicer
from sidecheck_server.rpc.inference import InferenceServicer
from sidecheck_server.rpc.info import InfoServicer
from sidecheck_server.rpc.methods import add_service
from sidecheck_server.rpc.protocol import ProtocolServicer
from sidecheck_server.rpc.registry import RegistryServicer
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.sockets import bind_tcp, bind_unix, check_tcp, check_unix, remove_socket
from sidecheck_server.rpc.standard import add_health, add_reflection
from sidecheck_server.rpc.streams import OpenStreams
from sidecheck_server.rpc.validation import ValidationServicer
from sidecheck_server.services.container import Services
from sidecheck_server.settings import Settings

__all__ = ["Server", "check_addresses"]

_VALIDATION = validation_service_pb2.DESCRIPTOR.services_by_name["ValidationService"]
_PROTOCOL = protocol_service_pb2.DESCRIPTOR.services_by_name["ProtocolService"]
_CONVERSION = conversion_service_pb2.DESCRIPTOR.services_by_name["ConversionService"]
_INFERENCE = inference_service_pb2.DESCRIPTOR.services_by_name["InferenceService"]
_REGISTRY = registry_service_pb2.DESCRIPTOR.services_by_name["RegistryService"]
_INFO = info_service_pb2.DESCRIPTOR.services_by_name["InfoService"]
_DESCRIPTORS = (_VALIDATION, _PROTOCOL, _CONVERSION, _INFERENCE, _REGISTRY, _INFO)
_SERVICE_NAMES = tuple(descriptor.full_name for descriptor in _DESCRIPTORS)
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
    """Serves *services* over gRPC until it is stopped."""

    def __init__(self, settings: Settings, registry: Registry, services: Services) -> None:
        limits = settings.limits
        self._settings = settings
        self._streams = OpenStreams()
        self._gate = ShutdownGate()
        self._server: grpc.aio.Server = grpc.aio.server(
            options=[
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", limits.message_bytes),
                # Clients ping idle connections every 30 s; by default gRPC answers that
                # with GOAWAY too_many_pings.
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
            ],
        )
        self._health = HealthServicer(_SERVICE_NAMES, without_workers={_INFO.full_name})
        server, gate, streams = self._server, self._gate, self._streams
        # gRPC looks a method up in this order.
        add_service(
            server,
            _VALIDATION,
            ValidationServicer(services.prepared_targets, limits, gate, streams),
        )
        add_service(server, _PROTOCOL, ProtocolServicer(services, limits, gate, streams))
        add_service(server, _CONVERSION, ConversionServicer(services, limits, gate))
        add_service(server, _INFERENCE, InferenceServicer(services, limits, gate))
        add_service(server, _REGISTRY, RegistryServicer(services, limits, gate))
        add_service(
            server, _INFO, InfoServicer(registry, services.resolver.default_version, limits, gate)
        )
        add_health(server, self._health)
        if settings.reflection:
            add_reflection(server, (*_SERVICE_NAMES, health.SERVICE_NAME), streams)
        self.addresses: list[str] = []

    async def start(self) -> None:
        """Bind the addresses and accept calls; health does not report serving yet.

        Raises:
            AddressInUseError: an address is taken.
        """
        if self._settings.listen:
            self.addresses.append(bind_tcp(self._server, self._settings.listen))
        if self._settings.unix_socket is not None:
            path = self._settings.unix_socket
            self.addresses.append(bind_unix(self._server, path))
        await self._server.start()
        if self._settings.unix_socket is not None:
            mode = int(self._settings.unix_socket_mode, 8)
            self._settings.unix_socket.chmod(mode)

    def report_ready(self) -> None:
        """Report in health and log that the server is serving."""
        self._health.set_serving(serving=True)
        _log.info("server.ready", addresses=self.addresses)

    def report_workers(self, alive: int) -> None:
        """Report in health whether any worker process is *alive*."""
        self._health.set_workers_alive(alive=alive > 0)

    async def stop(self) -> None:
        """Report that the server is not serving, let active calls finish, and stop.

        Calls that arrive after the drain period fail with UNAVAILABLE, and clients retry
        them elsewhere.
        """
        _log.info("server.draining")
        self._health.set_serving(serving=False)
        await asyncio.sleep(self._settings.drain_seconds)
        await self._gate.close()
        self._streams.end()
        self._health.end()
        await self._server.stop(self._settings.grace_seconds)
        if self._settings.unix_socket is not None:
            remove_socket(Path(self._settings.unix_socket))
        _log.info("server.stopped")
