"""Servicers of the API, and the table of served methods."""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Final, TypeAlias

from google.protobuf.descriptor import ServiceDescriptor
from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    validation_service_pb2,
)
from sidecheck.v1.conversion_service_pb2 import (
    ConvertToolCallRequest,
    ConvertToolCallResponse,
    ConvertToolResultRequest,
    ConvertToolResultResponse,
    ConvertToolsRequest,
    ConvertToolsResponse,
)
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceServicer
from sidecheck.v1.inference_service_pb2 import (
    AdaptToolRequest,
    AdaptToolResponse,
    InferToolsRequest,
    InferToolsResponse,
)
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceServicer
from sidecheck.v1.info_service_pb2 import (
    EngineInfo,
    GetServerInfoRequest,
    GetServerInfoResponse,
)
from sidecheck.v1.info_service_pb2_grpc import InfoServiceServicer

from sidecheck_server import __version__
from sidecheck_server.config.settings import Settings
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.schemas.dialects import DIALECTS
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.handler import check_response_size, rpc_handler
from sidecheck_server.rpc.health import HealthServicer
from sidecheck_server.rpc.mapping.conversion import (
    call_from_proto,
    conversion_to_proto,
    converted_call_to_proto,
    converted_result_to_proto,
    result_from_proto,
    tools_to_convert_from_proto,
)
from sidecheck_server.rpc.mapping.fields import limits_to_proto
from sidecheck_server.rpc.mapping.inference import (
    adapted_tool_to_proto,
    inferred_to_proto,
    portability_from_proto,
    portable_tool_to_proto,
    source_from_proto,
    tool_to_adapt_from_proto,
)
from sidecheck_server.rpc.mapping.options import options_from_proto
from sidecheck_server.rpc.mapping.verdicts import protocol_verdict_to_proto
from sidecheck_server.rpc.method_table import methods_of
from sidecheck_server.rpc.protocol import ProtocolServicer
from sidecheck_server.rpc.registry import RegistryServicer
from sidecheck_server.rpc.streams import OpenStreams
from sidecheck_server.rpc.validation import ValidationServicer
from sidecheck_server.services.container import Services
from sidecheck_server.services.offload import TimeSlice
from sidecheck_server.services.request_work import open_request

__all__ = [
    "INFO",
    "SERVICES",
    "ConversionServicer",
    "CreateGateways",
    "InferenceServicer",
    "InfoServicer",
    "ServedMethods",
    "create_servicers",
]


class ConversionServicer(ConversionServiceServicer):
    """Serves ConversionService."""

    def __init__(self, services: Services, limits: Limits) -> None:
        self._converter = services.converter
        self._calls = services.call_converter
        self._results = services.result_converter
        self._default_version = services.resolver.default_version
        self._limits = limits
        self._registry = services.registry
        self.changes = services.changes

    @rpc_handler
    async def ConvertTools(  # noqa: N802
        self, request: ConvertToolsRequest
    ) -> ConvertToolsResponse:
        """Convert tools for one request to an API."""
        open_request(self._limits)
        revision = self._registry.revision
        tools = await tools_to_convert_from_proto(request, self._limits)
        conversions = await self._converter.convert(tools)
        response = ConvertToolsResponse(
            request=protocol_verdict_to_proto(conversions.request), registry_revision=revision
        )
        time_slice = TimeSlice()
        for conversion in conversions.tools:
            response.conversions.append(conversion_to_proto(conversion))
            await time_slice.yield_if_over()
        check_response_size(response, self._limits)
        return response

    @rpc_handler
    async def ConvertToolCall(  # noqa: N802
        self, request: ConvertToolCallRequest
    ) -> ConvertToolCallResponse:
        """Convert a model's call to a call of MCP."""
        options = options_from_proto(request.options, self._limits)
        call = call_from_proto(request, options, self._limits)
        revision = self._registry.revision
        response = converted_call_to_proto(await self._calls.convert(call))
        response.registry_revision = revision
        check_response_size(response, self._limits)
        return response

    @rpc_handler
    async def ConvertToolResult(  # noqa: N802
        self, request: ConvertToolResultRequest
    ) -> ConvertToolResultResponse:
        """Convert a tool result to a message of a model provider's API."""
        result = result_from_proto(request, self._limits, self._default_version)
        revision = self._registry.revision
        response = converted_result_to_proto(await self._results.convert(result))
        response.registry_revision = revision
        check_response_size(response, self._limits)
        return response


#: Returns the servicers of the gateway protocols, which use the given streams and admission.
CreateGateways: TypeAlias = Callable[[OpenStreams, Admission], Mapping[ServiceDescriptor, object]]


class ServedMethods:
    """Methods of *services* and gateways, with the admission of all transports."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        services: Services,
        create_gateways: CreateGateways,
    ) -> None:
        self.admission = Admission(settings.transport)
        self.streams = OpenStreams(self.admission.gate, settings.transport, self.admission.shed)
        self.health = HealthServicer(SERVICES, without_workers={INFO})
        servicers = create_servicers(
            services, registry, settings.limits, self.streams, settings.server
        )
        gateways = create_gateways(self.streams, self.admission)
        #: The methods of the API, which are not only served over gRPC.
        self.api = tuple(methods_of(servicers.items()))
        self.gateways = tuple(methods_of(gateways.items()))
        #: The full names of all services.
        self.service_names = (*SERVICES, *(service.full_name for service in gateways))

    def report_workers(self, alive: int) -> None:
        """Report in health whether any worker process is *alive*."""
        self.health.set_workers_alive(alive=alive > 0)


class InferenceServicer(InferenceServiceServicer):
    """Serves InferenceService."""

    def __init__(self, services: Services, limits: Limits) -> None:
        self._inferrer = services.inferrer
        self._resolver = services.resolver
        self._adapter = services.adapter
        self._portable_adapter = services.portable_adapter
        self._limits = limits
        self._registry = services.registry
        self.changes = services.changes

    @rpc_handler
    async def InferTools(self, request: InferToolsRequest) -> InferToolsResponse:  # noqa: N802
        """Infer the definitions of tools from source text."""
        source, options = source_from_proto(request, self._limits)
        response = inferred_to_proto(await self._inferrer.infer(source, options))
        check_response_size(response, self._limits)
        return response

    @rpc_handler
    async def AdaptTool(self, request: AdaptToolRequest) -> AdaptToolResponse:  # noqa: N802
        """Adapt a definition to a protocol version, and to model APIs and clients."""
        open_request(self._limits)
        target, requested_version = tool_to_adapt_from_proto(request)
        targets, prove = portability_from_proto(request.portable)
        revision = self._registry.revision
        tool = await self._resolver.resolve_tool(target)
        version = self._resolver.version_of(target, requested_version)
        if request.HasField("portable"):
            portable = await self._portable_adapter.adapt(tool, version, targets, prove=prove)
            response = portable_tool_to_proto(portable)
        else:
            response = adapted_tool_to_proto(await self._adapter.adapt(tool.definition, version))
        response.registry_revision = revision
        check_response_size(response, self._limits)
        return response


_ENGINES = (("fast", "fastjsonschema"), ("complete", "jsonschema"))


class InfoServicer(InfoServiceServicer):
    """Serves InfoService."""

    def __init__(
        self, registry: Registry, default_version: str, limits: Limits, server: str
    ) -> None:
        self._registry = registry
        self._response = GetServerInfoResponse(
            version=__version__,
            limits=limits_to_proto(limits),
            dialects=list(DIALECTS),
            protocol_versions=VERSIONS,
            default_protocol_version=default_version,
            engines=[
                EngineInfo(name=name, library=library, version=version(library))
                for name, library in _ENGINES
            ],
            server=server,
        )

    @rpc_handler
    async def GetServerInfo(  # noqa: N802
        self, _request: GetServerInfoRequest
    ) -> GetServerInfoResponse:
        """Return the version, the limits and the features of the server."""
        self._response.registry_revision = self._registry.revision
        return self._response


_VALIDATION = validation_service_pb2.DESCRIPTOR.services_by_name["ValidationService"]
_PROTOCOL = protocol_service_pb2.DESCRIPTOR.services_by_name["ProtocolService"]
_CONVERSION = conversion_service_pb2.DESCRIPTOR.services_by_name["ConversionService"]
_INFERENCE = inference_service_pb2.DESCRIPTOR.services_by_name["InferenceService"]
_REGISTRY = registry_service_pb2.DESCRIPTOR.services_by_name["RegistryService"]
_INFO = info_service_pb2.DESCRIPTOR.services_by_name["InfoService"]

#: Full names of all services.
SERVICES: Final = tuple(
    descriptor.full_name
    for descriptor in (_VALIDATION, _PROTOCOL, _CONVERSION, _INFERENCE, _REGISTRY, _INFO)
)

#: Full name of InfoService, which needs no worker process.
INFO: Final = _INFO.full_name


def create_servicers(
    services: Services, registry: Registry, limits: Limits, streams: OpenStreams, server: str
) -> Mapping[ServiceDescriptor, object]:
    """Return the servicers, the most frequent first, since gRPC searches in order.

    *server* names what serves them, as the setting does.
    """
    return {
        _VALIDATION: ValidationServicer(services, limits, streams),
        _PROTOCOL: ProtocolServicer(services, limits, streams),
        _CONVERSION: ConversionServicer(services, limits),
        _INFERENCE: InferenceServicer(services, limits),
        _REGISTRY: RegistryServicer(services, limits, streams),
        _INFO: InfoServicer(registry, services.resolver.default_version, limits, server),
    }
