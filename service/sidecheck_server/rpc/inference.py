"""InferenceService."""

from sidecheck.v1.inference_service_pb2 import (
    InferToolsRequest,
    InferToolsResponse,
    ProjectToolRequest,
    ProjectToolResponse,
)
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceServicer

from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.answering import answering
from sidecheck_server.rpc.batches import refuse_large_answer
from sidecheck_server.rpc.convert import (
    inferred_to_wire,
    projected_to_wire,
    to_infer_from_wire,
    to_project_from_wire,
)
from sidecheck_server.rpc.door import Door
from sidecheck_server.state.inference import Inferrer
from sidecheck_server.state.projection import Projector

__all__ = ["InferenceServicer"]


class InferenceServicer(InferenceServiceServicer):
    """Infers definitions of tools, and gives them the forms that protocol versions want."""

    def __init__(
        self, inferrer: Inferrer, projector: Projector, limits: Limits, door: Door
    ) -> None:
        self.door = door
        self._inferrer = inferrer
        self._projector = projector
        self._limits = limits

    @answering
    async def InferTools(self, request: InferToolsRequest) -> InferToolsResponse:  # noqa: N802
        """Infer the definitions of tools from source text."""
        source, options = to_infer_from_wire(request)
        response = inferred_to_wire(await self._inferrer.infer(source, options))
        refuse_large_answer(response, self._limits)
        return response

    @answering
    async def ProjectTool(self, request: ProjectToolRequest) -> ProjectToolResponse:  # noqa: N802
        """Give a definition the form for a protocol version."""
        target, version = to_project_from_wire(request)
        response = projected_to_wire(await self._projector.project(target, version))
        refuse_large_answer(response, self._limits)
        return response
