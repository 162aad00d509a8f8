"""InferenceService: definitions inferred from source text, and adapted to protocol versions."""

from sidecheck.v1.inference_service_pb2 import (
    AdaptToolRequest,
    AdaptToolResponse,
    InferToolsRequest,
    InferToolsResponse,
)
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceServicer

from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.handler import check_response_size, rpc_handler
from sidecheck_server.rpc.mapping.inference import (
    adapted_tool_to_proto,
    inferred_to_proto,
    source_from_proto,
    tool_to_adapt_from_proto,
)
from sidecheck_server.services.container import Services

__all__ = ["InferenceServicer"]


class InferenceServicer(InferenceServiceServicer):
    """Serves InferenceService."""

    def __init__(self, services: Services, limits: Limits) -> None:
        self._inferrer = services.inferrer
        self._resolver = services.resolver
        self._adapter = services.adapter
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
        """Adapt a definition to a protocol version."""
        target, named_version = tool_to_adapt_from_proto(request)
        revision = self._registry.revision
        tool = await self._resolver.resolve_tool(target)
        version = self._resolver.version_of(target, named_version)
        response = adapted_tool_to_proto(await self._adapter.adapt(tool.definition, version))
        response.registry_revision = revision
        check_response_size(response, self._limits)
        return response
