"""Validation of the tool calls of a low-level server of version 2 of the official MCP SDK."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import HandlerEntry
from mcp_types import ListToolsResult, PaginatedRequestParams

from sidecheck.mcp.registrar import Definition
from sidecheck.mcp.tool_calls import ToolCall, ToolCallValidator

__all__ = ["wrap_handlers"]


def wrap_handlers(server: Server[Any], validator: ToolCallValidator) -> None:
    """Validate the calls and results of the handlers of *server*.

    Raises:
        ValueError: *server* has no handler for ``tools/list`` or ``tools/call``.
    """
    list_entry = server.get_request_handler("tools/list")
    call_entry = server.get_request_handler("tools/call")
    if list_entry is None or call_entry is None:
        raise ValueError("the server has no handler for tools/list or tools/call; add them first")

    async def list_tools(ctx: ServerRequestContext[Any], params: Any) -> Any:
        result = await list_entry.handler(ctx, params)
        if isinstance(result, ListToolsResult):
            validator.observe(definitions_of(result))
        return result

    async def call_tool(ctx: ServerRequestContext[Any], params: Any) -> Any:
        async def run(repaired: Mapping[str, Any] | None) -> Any:
            if repaired is None:
                return await call_entry.handler(ctx, params)
            typed = call_entry.params_type.model_validate(repaired, by_name=False)
            return await call_entry.handler(replace(ctx, params=repaired), typed)

        raw = ctx.params or params.model_dump(mode="json", by_alias=True, exclude_none=True)
        return await validator.handle(
            ToolCall(raw, ctx.protocol_version, partial(list_all, list_entry, ctx), run)
        )

    server.add_request_handler("tools/list", list_entry.params_type, list_tools)
    server.add_request_handler("tools/call", call_entry.params_type, call_tool)


async def list_all(entry: HandlerEntry[Any], ctx: ServerRequestContext[Any]) -> list[Definition]:
    """Return the tools of all pages that the handler of ``tools/list`` returns.

    Raises:
        TypeError: The handler returned something else.
    """
    definitions: list[Definition] = []
    seen: set[str] = set()
    cursor: str | None = None
    while True:
        page = await entry.handler(ctx, PaginatedRequestParams(cursor=cursor))
        if not isinstance(page, ListToolsResult):
            raise TypeError("the handler of tools/list must return a ListToolsResult")
        definitions += definitions_of(page)
        cursor = page.next_cursor
        # Stops at a repeated cursor, which would lead to an endless loop.
        if not cursor or cursor in seen:
            return definitions
        seen.add(cursor)


def definitions_of(result: ListToolsResult) -> list[Definition]:
    """Return the definitions in a page of tools, as the server sends them."""
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in result.tools]
