"""InferenceService."""

from sidecheck.v1.inference_service_pb2 import ProjectToolRequest, ProjectToolResponse
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceServicer

from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.answering import answering
from sidecheck_server.rpc.batches import refuse_large_answer
from sidecheck_server.rpc.convert import projected_to_wire, to_project_from_wire
from sidecheck_server.rpc.door import Door
from sidecheck_server.state.projection import Projector

__all__ = ["InferenceServicer"]


class InferenceServicer(InferenceServiceServicer):
    """Gives definitions of tools the forms that protocol versions want."""

    def __init__(self, projector: Projector, limits: Limits, door: Door) -> None:
        self.door = door
        self._projector = projector
        self._limits = limits

    @answering
    async def ProjectTool(self, request: ProjectToolRequest) -> ProjectToolResponse:  # noqa: N802
        """Give a definition the form for a protocol version."""
        target, version = to_project_from_wire(request)
        response = projected_to_wire(await self._projector.project(target, version))
        refuse_large_answer(response, self._limits)
        return response
