"""RegistryService: tool definitions registered, listed and deleted."""

import asyncio

from sidecheck.v1.registry_service_pb2 import (
    DeleteToolsRequest,
    DeleteToolsResponse,
    GetToolRequest,
    GetToolResponse,
    ListToolsRequest,
    ListToolsResponse,
    RegisterToolsRequest,
    RegisterToolsResponse,
)
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceServicer

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.mapping.registration import (
    outcome_to_proto,
    registration_from_proto,
    tool_to_proto,
)
from sidecheck_server.rpc.pages import page_size, position_from_token, token_for_position
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.services.registration import Registrar
from sidecheck_server.services.resolution import require_binding

__all__ = ["RegistryServicer"]

_PAGE_BYTES = 1 << 20
"""The JSON on a page of tools, far below the largest message."""


class RegistryServicer(RegistryServiceServicer):
    """Serves RegistryService."""

    def __init__(
        self, registrar: Registrar, registry: Registry, limits: Limits, gate: ShutdownGate
    ) -> None:
        self.gate = gate
        self._limits = limits
        self._registrar = registrar
        self._registry = registry

    @rpc_handler
    async def RegisterTools(  # noqa: N802
        self, request: RegisterToolsRequest
    ) -> RegisterToolsResponse:
        """Register the tools of a server."""
        registration = registration_from_proto(request, self._limits)
        registered = await self._registrar.register(registration)
        return RegisterToolsResponse(
            outcomes=map(outcome_to_proto, registered.outcomes),
            removed=registered.removed,
            registry_revision=registered.revision,
        )

    @rpc_handler
    async def GetTool(self, request: GetToolRequest) -> GetToolResponse:  # noqa: N802
        """Return a registered tool."""
        revision = self._registry.revision
        binding = require_binding(self._registry, request.server, request.name)
        return GetToolResponse(tool=tool_to_proto(binding), registry_revision=revision)

    @rpc_handler
    async def ListTools(self, request: ListToolsRequest) -> ListToolsResponse:  # noqa: N802
        """List registered tools, page by page."""
        revision = self._registry.revision
        bindings, more = self._registry.page(
            request.server or None,
            position_from_token(request.page_token, request.server),
            page_size(request.page_size),
            _PAGE_BYTES,
        )
        last = bindings[-1] if more else None
        return ListToolsResponse(
            tools=map(tool_to_proto, bindings),
            next_page_token=(
                token_for_position(request.server, last.server, last.name) if last else ""
            ),
            registry_revision=revision,
        )

    @rpc_handler
    async def DeleteTools(self, request: DeleteToolsRequest) -> DeleteToolsResponse:  # noqa: N802
        """Remove tools from the namespace of a server."""
        if request.all == bool(request.names):
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                "either names or all must be set, and not both",
                {"field": "names"},
            )
        names = None if request.all else list(request.names)
        # A transaction waits for the disk.
        deleted = await asyncio.to_thread(self._registry.delete, request.server, names)
        return DeleteToolsResponse(
            deleted=deleted.deleted, unknown=deleted.unknown, registry_revision=deleted.revision
        )
