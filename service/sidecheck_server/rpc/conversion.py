"""ConversionService: tools, calls and results converted to and from APIs of model providers."""

from sidecheck.v1.conversion_service_pb2 import (
    ConvertToolCallRequest,
    ConvertToolCallResponse,
    ConvertToolResultRequest,
    ConvertToolResultResponse,
    ConvertToolsRequest,
    ConvertToolsResponse,
)
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceServicer

from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.handler import check_response_size, rpc_handler
from sidecheck_server.rpc.mapping.conversion import (
    call_from_proto,
    conversion_to_proto,
    converted_call_to_proto,
    converted_result_to_proto,
    result_from_proto,
    tools_to_convert_from_proto,
)
from sidecheck_server.rpc.mapping.options import options_from_proto
from sidecheck_server.rpc.mapping.verdicts import protocol_verdict_to_proto
from sidecheck_server.services.container import Services
from sidecheck_server.services.offload import TimeSlice
from sidecheck_server.services.request_work import open_request

__all__ = ["ConversionServicer"]


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
        """Convert a result to the message that an API expects."""
        result = result_from_proto(request, self._limits, self._default_version)
        revision = self._registry.revision
        response = converted_result_to_proto(await self._results.convert(result))
        response.registry_revision = revision
        check_response_size(response, self._limits)
        return response
