"""The gRPC server: its services, its addresses, its beginning and its end."""

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
from sidecheck_server.rpc.sockets import bind_tcp, bind_unix, remove_socket
from sidecheck_server.rpc.standard import add_health, add_reflection
from sidecheck_server.rpc.streams import Streams
from sidecheck_server.rpc.validation import ValidationServicer
from sidecheck_server.services.adaptation import ToolAdapter
from sidecheck_server.services.calls import ToolCalls
from sidecheck_server.services.conversion import Converter
from sidecheck_server.services.inference import Inferrer
from sidecheck_server.services.model_calls import Restorer
from sidecheck_server.services.normalization import Normalizer
from sidecheck_server.services.protocol import Checker
from sidecheck_server.services.registration import Registrar
from sidecheck_server.services.result_messages import ResultConverter
from sidecheck_server.services.results import ResultChecker
from sidecheck_server.services.validation import Validator
from sidecheck_server.settings import Settings

__all__ = ["Server"]

_VALIDATION = validation_service_pb2.DESCRIPTOR.services_by_name["ValidationService"]
_PROTOCOL = protocol_service_pb2.DESCRIPTOR.services_by_name["ProtocolService"]
_CONVERSION = conversion_service_pb2.DESCRIPTOR.services_by_name["ConversionService"]
_INFERENCE = inference_service_pb2.DESCRIPTOR.services_by_name["InferenceService"]
_REGISTRY = registry_service_pb2.DESCRIPTOR.services_by_name["RegistryService"]
_INFO = info_service_pb2.DESCRIPTOR.services_by_name["InfoService"]
_ALL = (_VALIDATION, _PROTOCOL, _CONVERSION, _INFERENCE, _REGISTRY, _INFO)
_SERVICES = tuple(each.full_name for each in _ALL)
_log = structlog.get_logger("sidecheck.server")


class Server:
    """Serves until it is told to stop."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        validator: Validator,
        checker: Checker,
        registrar: Registrar,
        converter: Converter,
        inferrer: Inferrer,
    ) -> None:
        limits = settings.limits
        self._settings = settings
        self._streams = Streams()
        self._door = ShutdownGate()
        self._server: grpc.aio.Server = grpc.aio.server(
            options=[
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", limits.message_bytes),
                # Clients keep idle connections alive (30 s); the default answers that
                # with GOAWAY too_many_pings.
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
            ],
        )
        self._health = HealthServicer(_SERVICES)
        server = self._server
        # gRPC asks them in this order whose method was called.
        calls = ToolCalls(validator, checker, limits)
        validation = ValidationServicer(
            validator, calls, registry, limits, self._door, self._streams
        )
        add_service(server, _VALIDATION, validation)
        results = ResultChecker(checker, validator)
        projector = ToolAdapter(validator, limits)
        normalizer = Normalizer(validator, projector, results, limits)
        protocol = ProtocolServicer(checker, results, normalizer, limits, self._door, self._streams)
        add_service(server, _PROTOCOL, protocol)
        conversion = ConversionServicer(
            converter,
            Restorer(validator, registry, limits),
            ResultConverter(results),
            limits,
            self._door,
        )
        add_service(server, _CONVERSION, conversion)
        inference = InferenceServicer(inferrer, projector, limits, self._door)
        add_service(server, _INFERENCE, inference)
        add_service(server, _REGISTRY, RegistryServicer(registrar, registry, limits, self._door))
        add_service(server, _INFO, InfoServicer(registry, limits, self._door))
        add_health(server, self._health)
        if settings.reflection:
            add_reflection(server, (*_SERVICES, health.SERVICE_NAME), self._streams)
        self.addresses: list[str] = []

    async def start(self) -> None:
        """Bind the addresses and answer, not serving by health as yet.

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

    def ready(self) -> None:
        """Say by health that the server serves."""
        self._health.say(serving=True)
        _log.info("server.ready", addresses=self.addresses)

    async def stop(self) -> None:
        """Say by health that the server does not serve, let calls under way end, and stop.

        Calls that come after the drain are answered UNAVAILABLE, and clients try them again.
        """
        _log.info("server.draining")
        self._health.say(serving=False)
        await asyncio.sleep(self._settings.drain_seconds)
        await self._door.shut()
        self._streams.end()
        self._health.end()
        await self._server.stop(self._settings.grace_seconds)
        if self._settings.unix_socket is not None:
            remove_socket(Path(self._settings.unix_socket))
        _log.info("server.stopped")
