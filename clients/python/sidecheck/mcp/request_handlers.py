"""Validation of the tool calls of a low-level server of version 1 of the official MCP SDK.

FastMCP of that SDK, and of the package ``fastmcp`` before version 4, have such a server.
"""

from collections.abc import Mapping
from typing import Any

from sidecheck.mcp.registrar import Definition
from sidecheck.mcp.sdk import types
from sidecheck.mcp.tool_calls import ToolCall, ToolCallValidator

__all__ = ["wrap_request_handlers"]


def wrap_request_handlers(server: Any, validator: ToolCallValidator) -> None:
    """Validate the calls and results of the handlers of *server*.

    Raises:
        ValueError: *server* has no handler for ``tools/list`` or ``tools/call``.
    """
    handlers = server.request_handlers
    list_handler = handlers.get(types.ListToolsRequest)
    call_handler = handlers.get(types.CallToolRequest)
    if list_handler is None or call_handler is None:
        raise ValueError("the server has no handler for tools/list or tools/call; add them first")

    async def list_tools(request: Any) -> Any:
        response = await list_handler(request)
        validator.observe(definitions_of(response.root))
        return response

    async def list_all() -> list[Definition]:
        definitions: list[Definition] = []
        seen: set[str] = set()
        cursor: str | None = None
        while True:
            params = types.PaginatedRequestParams(cursor=cursor)
            request = types.ListToolsRequest(method="tools/list", params=params)
            page = (await list_handler(request)).root
            definitions += definitions_of(page)
            cursor = page.nextCursor
            # Stops at a repeated cursor, which would lead to an endless loop.
            if not cursor or cursor in seen:
                return definitions
            seen.add(cursor)

    async def call_tool(request: Any) -> Any:
        async def run(repaired: Mapping[str, Any] | None) -> Any:
            if repaired is None:
                return (await call_handler(request)).root
            params = types.CallToolRequestParams.model_validate(repaired)
            return (await call_handler(request.model_copy(update={"params": params}))).root

        params = request.params.model_dump(mode="json", by_alias=True, exclude_unset=True)
        call = ToolCall(params, negotiated_version(server), list_all, run)
        return types.ServerResult(await validator.handle(call))

    handlers[types.ListToolsRequest] = list_tools
    handlers[types.CallToolRequest] = call_tool


def definitions_of(result: Any) -> list[Definition]:
    """Return the definitions in a page of tools, as the server sends them."""
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in result.tools]


def negotiated_version(server: Any) -> str:
    """Return the protocol version of the current request; "" if there was no initialization."""
    initialization = server.request_context.session.client_params
    if initialization is None:
        return ""
    # The server agrees to a version that it knows, and otherwise offers its latest.
    requested = str(initialization.protocolVersion)
    latest = str(types.LATEST_PROTOCOL_VERSION)
    return min(requested, latest)
