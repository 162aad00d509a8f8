"""RegistryService."""

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
from sidecheck_server.rpc.mapping import outcome_to_wire, registration_from_wire, tool_to_wire
from sidecheck_server.rpc.pages import page_size, place_of, token_of
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.services.registration import Registrar

__all__ = ["RegistryServicer"]

_PAGE_BYTES = 1 << 20
"""The JSON on a page of tools, so that it stays well below the largest message."""


class RegistryServicer(RegistryServiceServicer):
    """Keeps tool definitions."""

    def __init__(
        self, registrar: Registrar, registry: Registry, limits: Limits, door: ShutdownGate
    ) -> None:
        self.door = door
        self._limits = limits
        self._registrar = registrar
        self._registry = registry

    @rpc_handler
    async def RegisterTools(  # noqa: N802
        self, request: RegisterToolsRequest
    ) -> RegisterToolsResponse:
        """Register the tools of one server."""
        done = await self._registrar.register(registration_from_wire(request, self._limits))
        return RegisterToolsResponse(
            outcomes=[outcome_to_wire(outcome) for outcome in done.outcomes],
            removed=done.removed,
            registry_revision=done.revision,
        )

    @rpc_handler
    async def GetTool(self, request: GetToolRequest) -> GetToolResponse:  # noqa: N802
        """Return one registered tool."""
        revision = self._registry.revision
        binding = self._registry.find(request.server, request.name)
        if binding is None:
            server, name = request.server[:128], request.name[:128]
            raise RequestError(
                ErrorReason.UNKNOWN_TOOL,
                f"no tool {name!r} is registered for the server {server!r}",
                {"server": server, "tool": name},
            )
        return GetToolResponse(tool=tool_to_wire(binding), registry_revision=revision)

    @rpc_handler
    async def ListTools(self, request: ListToolsRequest) -> ListToolsResponse:  # noqa: N802
        """List registered tools, page by page."""
        revision = self._registry.revision
        bindings, more = self._registry.page(
            request.server or None,
            place_of(request.page_token, request.server),
            page_size(request.page_size),
            _PAGE_BYTES,
        )
        last = bindings[-1] if more else None
        return ListToolsResponse(
            tools=[tool_to_wire(binding) for binding in bindings],
            next_page_token=token_of(request.server, last.server, last.name) if last else "",
            registry_revision=revision,
        )

    @rpc_handler
    async def DeleteTools(self, request: DeleteToolsRequest) -> DeleteToolsResponse:  # noqa: N802
        """Remove tools from a server's namespace."""
        if request.all == bool(request.names):
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                "a removal needs either names, or all; it has both or neither",
                {"field": "names"},
            )
        names = None if request.all else list(request.names)
        # A transaction waits for the disk.
        done = await asyncio.to_thread(self._registry.delete, request.server, names)
        return DeleteToolsResponse(
            deleted=done.deleted, unknown=done.unknown, registry_revision=done.revision
        )
