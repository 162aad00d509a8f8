"""ConversionService."""

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
from sidecheck_server.rpc.conversions import answer_conversion, answer_restored, answer_told
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.services.conversion import Converter
from sidecheck_server.services.model_calls import Restorer
from sidecheck_server.services.result_messages import ResultConverter

__all__ = ["ConversionServicer"]


class ConversionServicer(ConversionServiceServicer):
    """Converts tools, and what comes of them."""

    def __init__(
        self,
        converter: Converter,
        restorer: Restorer,
        results: ResultConverter,
        limits: Limits,
        door: ShutdownGate,
    ) -> None:
        self.door = door
        self._converter = converter
        self._restorer = restorer
        self._results = results
        self._limits = limits

    @rpc_handler
    async def ConvertTools(  # noqa: N802
        self, request: ConvertToolsRequest
    ) -> ConvertToolsResponse:
        """Convert tools for one request to an API."""
        return await answer_conversion(request, self._converter, self._limits)

    @rpc_handler
    async def ConvertToolCall(  # noqa: N802
        self, request: ConvertToolCallRequest
    ) -> ConvertToolCallResponse:
        """Turn a model's call into one of MCP."""
        return await answer_restored(request, self._restorer, self._limits)

    @rpc_handler
    async def ConvertToolResult(  # noqa: N802
        self, request: ConvertToolResultRequest
    ) -> ConvertToolResultResponse:
        """Turn a result into the message that tells the model."""
        return await answer_told(request, self._results, self._limits)
