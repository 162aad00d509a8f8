"""RegistryService: registers, lists, watches, compares and deletes tools."""

from collections.abc import AsyncIterator

from sidecheck.v1.registry_service_pb2 import (
    CompareToolsRequest,
    CompareToolsResponse,
    DeleteToolsRequest,
    DeleteToolsResponse,
    GetToolRequest,
    GetToolResponse,
    ListToolsRequest,
    ListToolsResponse,
    RegisterToolsRequest,
    RegisterToolsResponse,
    Tool,
    WatchToolsRequest,
    WatchToolsResponse,
)
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceServicer

from sidecheck_server.access.identity import allowed_servers, check_server
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import check_version_known
from sidecheck_server.registry.definitions import Binding
from sidecheck_server.rpc.handler import check_response_size, rpc_handler
from sidecheck_server.rpc.mapping.comparison import (
    ComparisonWriter,
    level_to_proto,
    reading_from_proto,
    tool_set_from_proto,
)
from sidecheck_server.rpc.mapping.fields import page_size, position_from_token, token_for_position
from sidecheck_server.rpc.mapping.registration import (
    change_to_proto,
    checkpoint_to_proto,
    outcome_to_proto,
    registration_from_proto,
    tool_to_proto,
)
from sidecheck_server.rpc.streams import OpenStreams, rpc_server_stream_handler
from sidecheck_server.services.change_log import Checkpoint
from sidecheck_server.services.container import Services
from sidecheck_server.services.offload import TimeSlice
from sidecheck_server.services.request_work import open_request
from sidecheck_server.services.resolution import require_binding
from sidecheck_server.services.targets import InlineTool

__all__ = ["RegistryServicer"]

_PAGE_BYTES = 256 << 10
"""Maximum JSON on a page of several tools: a page takes memory until the client reads it."""


class RegistryServicer(RegistryServiceServicer):
    """Serves RegistryService."""

    def __init__(self, services: Services, limits: Limits, streams: OpenStreams) -> None:
        self.streams = streams
        self.changes = services.changes
        self._limits = limits
        self._registrar = services.registrar
        self._writer = services.registry_writer
        self._registry = services.registry
        self._adapter = services.adapter
        self._tool_sets = services.tool_sets

    @rpc_handler
    async def RegisterTools(  # noqa: N802
        self, request: RegisterToolsRequest
    ) -> RegisterToolsResponse:
        """Register the tools of a server."""
        open_request(self._limits)
        registration = await registration_from_proto(request, self._limits)
        registered = await self._registrar.register(registration)
        response = RegisterToolsResponse(
            removed=registered.removed,
            registry_revision=registered.revision,
            kept=registered.kept,
        )
        time_slice, comparisons = TimeSlice(), ComparisonWriter(self._limits)
        for outcome in registered.outcomes:
            response.outcomes.append(outcome_to_proto(outcome, comparisons))
            await time_slice.yield_if_over()
        return response

    @rpc_handler
    async def GetTool(self, request: GetToolRequest) -> GetToolResponse:  # noqa: N802
        """Return a registered tool."""
        check_version_known(request.adapt_to_version)
        revision = self._registry.revision
        binding = require_binding(self._registry, request.server, request.name)
        tool = await self._tool(binding, request.adapt_to_version)
        return GetToolResponse(tool=tool, registry_revision=revision)

    @rpc_handler
    async def ListTools(self, request: ListToolsRequest) -> ListToolsResponse:  # noqa: N802
        """List registered tools, page by page."""
        check_version_known(request.adapt_to_version)
        revision = self._registry.revision
        bindings, more = self._registry.page(
            request.server or None,
            position_from_token(request.page_token, request.server),
            page_size(request.page_size),
            _PAGE_BYTES,
        )
        last = bindings[-1] if more else None
        tools, time_slice = [], TimeSlice()
        for binding in bindings:
            tools.append(await self._tool(binding, request.adapt_to_version))
            await time_slice.yield_if_over()
        return ListToolsResponse(
            tools=tools,
            next_page_token=(
                token_for_position(request.server, last.server, last.name) if last else ""
            ),
            registry_revision=revision,
        )

    async def _tool(self, binding: Binding, version: str) -> Tool:
        """Return the message of *binding*, adapted to the protocol *version*; "" for none."""
        definition = binding.definition
        if not version:
            return tool_to_proto(binding, definition.json)
        adapted = await self._adapter.adapt(
            InlineTool(definition.json, definition.documents), version
        )
        return tool_to_proto(binding, adapted.json)

    @rpc_handler
    async def DeleteTools(self, request: DeleteToolsRequest) -> DeleteToolsResponse:  # noqa: N802
        """Remove tools from the namespace of a server."""
        count = len(request.names)
        if count > self._limits.batch_items:
            raise limit_exceeded_error("batch_items", self._limits.batch_items, "the names", count)
        if request.all == bool(request.names):
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                "either names or all must be set, and not both",
                {"field": "names"},
            )
        names = None if request.all else list(request.names)
        deleted = await self._writer.delete(request.server, names)
        return DeleteToolsResponse(
            deleted=deleted.deleted, unknown=deleted.unknown, registry_revision=deleted.revision
        )

    @rpc_server_stream_handler
    async def WatchTools(  # noqa: N802
        self, request: WatchToolsRequest
    ) -> AsyncIterator[WatchToolsResponse]:
        """Send the changes of registered tools as they happen."""
        for server in request.servers:
            check_server(server)
        servers = frozenset(request.servers) or allowed_servers()
        checkpoint = self.changes.checkpoint
        after, after_id = checkpoint.revision, str(checkpoint.id)
        if request.HasField("after_revision"):
            after, after_id = request.after_revision, request.after_id
        time_slice = TimeSlice()
        async for event in self.changes.follow(after, after_id):
            # A long history without events for this watch must not delay other calls.
            await time_slice.yield_if_over()
            if isinstance(event, Checkpoint):
                yield checkpoint_to_proto(event)
            elif servers is None or event.server in servers:
                for response in change_to_proto(event, _PAGE_BYTES):
                    yield response

    @rpc_handler
    async def CompareTools(  # noqa: N802
        self, request: CompareToolsRequest
    ) -> CompareToolsResponse:
        """Return the changes between two sets of tools, and whether they break callers."""
        open_request(self._limits)
        reading = reading_from_proto(request.reading)
        revision = self._registry.revision
        old, new = [
            await tool_set_from_proto(request, field, self._limits) for field in ("old", "new")
        ]
        compared = await self._tool_sets.compare(old, new)
        response = CompareToolsResponse(
            level=level_to_proto(compared.level(reading)), registry_revision=revision
        )
        time_slice, comparisons = TimeSlice(), ComparisonWriter(self._limits)
        for tool in compared.tools:
            response.tools.append(comparisons.write(tool))
            await time_slice.yield_if_over()
        check_response_size(response, self._limits)
        return response
