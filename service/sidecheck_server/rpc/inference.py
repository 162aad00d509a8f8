"""InferenceService."""

from sidecheck.v1.inference_service_pb2 import (
    AdaptToolRequest,
    AdaptToolResponse,
    InferToolsRequest,
    InferToolsResponse,
)
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceServicer

from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.batches import refuse_large_answer
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.mapping import (
    inferred_to_wire,
    projected_to_wire,
    to_infer_from_wire,
    to_project_from_wire,
)
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.services.adaptation import ToolAdapter
from sidecheck_server.services.inference import Inferrer

__all__ = ["InferenceServicer"]


class InferenceServicer(InferenceServiceServicer):
    """Infers definitions of tools, and gives them the forms that protocol versions want."""

    def __init__(
        self, inferrer: Inferrer, projector: ToolAdapter, limits: Limits, door: ShutdownGate
    ) -> None:
        self.door = door
        self._inferrer = inferrer
        self._projector = projector
        self._limits = limits

    @rpc_handler
    async def InferTools(self, request: InferToolsRequest) -> InferToolsResponse:  # noqa: N802
        """Infer the definitions of tools from source text."""
        source, options = to_infer_from_wire(request)
        response = inferred_to_wire(await self._inferrer.infer(source, options))
        refuse_large_answer(response, self._limits)
        return response

    @rpc_handler
    async def AdaptTool(self, request: AdaptToolRequest) -> AdaptToolResponse:  # noqa: N802
        """Give a definition the form for a protocol version."""
        target, version = to_project_from_wire(request)
        response = projected_to_wire(await self._projector.project(target, version))
        refuse_large_answer(response, self._limits)
        return response
