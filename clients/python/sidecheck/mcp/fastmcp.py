"""Validation of the tool calls of a FastMCP server, as a middleware."""

from collections.abc import Mapping, Sequence
from typing import Any

try:
    from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
    from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
    from fastmcp.utilities.versions import dedupe_with_versions
except ImportError as error:
    raise ImportError("sidecheck.mcp.fastmcp needs FastMCP: pip install 'fastmcp>=4,<5'") from error
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsRequest

from sidecheck.mcp.registrar import Definition, RegisteringValidator
from sidecheck.mcp.tool_calls import OnError, OnReport, ToolCall, ToolCallValidator
from sidecheck.validation import Options

__all__ = ["SidecheckMiddleware"]


class SidecheckMiddleware(Middleware):
    """Validates tool calls and results, as `sidecheck.mcp.with_sidecheck` does.

    *name* is the server name under which the tools are registered. If a tool has several
    versions, the highest one is registered.
    """

    def __init__(
        self,
        client: RegisteringValidator | str,
        *,
        name: str,
        options: Options | None = None,
        on_error: OnError | None = None,
        on_report: OnReport | None = None,
    ) -> None:
        self._validator = ToolCallValidator(client, name, options, on_error, on_report)

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Return the tools, and record them for the registration."""
        tools = await call_next(context)
        self._validator.observe(definitions_of(tools))
        return tools

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Validate a call and its result."""
        fastmcp_context = context.fastmcp_context
        assert fastmcp_context is not None
        request = fastmcp_context.request_context
        params = context.message.model_dump(mode="json", by_alias=True, exclude_none=True)
        if request is not None and request.meta:
            # FastMCP removes the metadata of the request from the message.
            params["_meta"] = dict(request.meta)
        results: list[tuple[ToolResult, Any]] = []

        async def list_tools() -> list[Definition]:
            return definitions_of(await fastmcp_context.fastmcp.list_tools())

        async def run(repaired: Mapping[str, Any] | None) -> Any:
            message = context.message
            if repaired is not None:
                update = {"arguments": repaired.get("arguments")}
                message = message.model_copy(update=update)
            tool_result = await call_next(context.copy(message=message))
            results.append((tool_result, protocol_result(tool_result)))
            return results[-1][1]

        version = request.protocol_version if request is not None else ""
        result = await self._validator.handle(ToolCall(params, version, list_tools, run))
        for tool_result, converted in results:
            if result is converted:
                return tool_result
        return ToolResult.from_mcp_result(result)


def definitions_of(tools: Sequence[Tool]) -> list[Definition]:
    """Return the definitions of *tools*, as the server sends them."""
    highest = dedupe_with_versions(list(tools), lambda tool: tool.name)
    return [
        tool.to_mcp_tool(name=tool.name).model_dump(mode="json", by_alias=True, exclude_none=True)
        for tool in highest
    ]


def protocol_result(result: ToolResult) -> Any:
    """Return *result* as a `CallToolResult`; a result of another kind unchanged."""
    if not isinstance(result, ToolResult) or isinstance(result, InputRequiredToolResult):
        return result
    converted = result.to_mcp_result()
    if isinstance(converted, CallToolResult):
        return converted
    return CallToolResult(content=result.content, structured_content=result.structured_content)
