"""Tools that answer without asking the client for anything."""

from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

from mcp_conformance.server.samples import PNG_TEXT, WAV_TEXT

__all__ = ["add_content_tools", "add_notifying_tools", "schema_tool"]

_PAUSE = 0.05
"""Seconds between two notifications, as the scenarios want it."""

_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def schema_tool() -> Tool:
    """Return a tool whose input schema has keywords that no signature gives it."""

    def call(name: str = "") -> str:
        return name

    tool = Tool.from_function(call, "json_schema_2020_12_tool", description="Returns a name.")
    return tool.model_copy(update={"parameters": _SCHEMA})


def add_content_tools(server: MCPServer[Any]) -> None:
    """Add tools with different kinds of results."""

    @server.tool()
    def test_simple_text() -> str:
        """Return text, and the same as structured content."""
        return "This is a simple text response for testing."

    @server.tool()
    def test_image_content() -> ImageContent:
        """Return an image."""
        return _image()

    @server.tool()
    def test_audio_content() -> AudioContent:
        """Return a sound."""
        return AudioContent(type="audio", data=WAV_TEXT, mime_type="audio/wav")

    @server.tool()
    def test_embedded_resource() -> EmbeddedResource:
        """Return a resource."""
        return _resource(
            "test://embedded-resource", "text/plain", "This is an embedded resource content."
        )

    @server.tool()
    def test_multiple_content_types() -> list[ContentBlock]:
        """Return text, an image and a resource."""
        return [
            TextContent(type="text", text="Multiple content types test:"),
            _image(),
            _resource(
                "test://mixed-content-resource",
                "application/json",
                '{"test":"data","value":123}',
            ),
        ]

    @server.tool()
    def test_error_handling() -> str:
        """Fail."""
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool()
    def test_headers(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
    ) -> str:
        """Return the region, which a header of the request repeats."""
        return region


def add_notifying_tools(server: MCPServer[Any]) -> None:
    """Add tools that send notifications before they return."""

    @server.tool()
    async def test_tool_with_logging(context: Context) -> str:
        """Log three messages."""
        await context.info("Tool execution started")
        await anyio.sleep(_PAUSE)
        await context.info("Tool processing data")
        await anyio.sleep(_PAUSE)
        await context.info("Tool execution completed")
        return "logged"

    @server.tool()
    async def test_logging_tool(context: Context) -> str:
        """Log a message."""
        await context.info("called")
        return "logged"

    @server.tool()
    async def test_tool_with_progress(context: Context) -> str:
        """Report progress three times."""
        await context.report_progress(0, 100)
        await anyio.sleep(_PAUSE)
        await context.report_progress(50, 100)
        await anyio.sleep(_PAUSE)
        await context.report_progress(100, 100)
        return "done"

    @server.tool()
    async def test_reconnection(context: Context) -> str:
        """Close the stream of the call before its result, which another stream then has."""
        await context.close_sse_stream()
        await anyio.sleep(_PAUSE)
        return "resumed"

    @server.tool()
    async def test_trigger_tool_change(context: Context) -> str:
        """Announce that the list of tools has changed."""
        await context.notify_tools_changed()
        return "announced"

    @server.tool()
    async def test_trigger_prompt_change(context: Context) -> str:
        """Announce that the list of prompts has changed."""
        await context.notify_prompts_changed()
        return "announced"


def _image() -> ImageContent:
    return ImageContent(type="image", data=PNG_TEXT, mime_type="image/png")


def _resource(uri: str, kind: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=kind, text=text)
    return EmbeddedResource(type="resource", resource=contents)
