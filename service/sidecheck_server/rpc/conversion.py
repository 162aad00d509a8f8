"""ConversionService."""

from sidecheck.v1.conversion_service_pb2 import (
    ConvertToolResultRequest,
    ConvertToolResultResponse,
    ConvertToolsRequest,
    ConvertToolsResponse,
    RestoreToolCallRequest,
    RestoreToolCallResponse,
)
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceServicer

from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.answering import answering
from sidecheck_server.rpc.conversions import answer_conversion, answer_restored, answer_told
from sidecheck_server.rpc.door import Door
from sidecheck_server.state.conversion import Converter
from sidecheck_server.state.restoring import Restorer
from sidecheck_server.state.told_results import ResultConverter

__all__ = ["ConversionServicer"]


class ConversionServicer(ConversionServiceServicer):
    """Converts tools, and what comes of them."""

    def __init__(
        self,
        converter: Converter,
        restorer: Restorer,
        results: ResultConverter,
        limits: Limits,
        door: Door,
    ) -> None:
        self.door = door
        self._converter = converter
        self._restorer = restorer
        self._results = results
        self._limits = limits

    @answering
    async def ConvertTools(  # noqa: N802
        self, request: ConvertToolsRequest
    ) -> ConvertToolsResponse:
        """Convert tools for one request to an API."""
        return await answer_conversion(request, self._converter, self._limits)

    @answering
    async def RestoreToolCall(  # noqa: N802
        self, request: RestoreToolCallRequest
    ) -> RestoreToolCallResponse:
        """Turn a model's call into one of MCP."""
        return await answer_restored(request, self._restorer, self._limits)

    @answering
    async def ConvertToolResult(  # noqa: N802
        self, request: ConvertToolResultRequest
    ) -> ConvertToolResultResponse:
        """Turn a result into the message that tells the model."""
        return await answer_told(request, self._results, self._limits)
