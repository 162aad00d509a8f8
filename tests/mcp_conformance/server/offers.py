"""Resources and prompts, and what goes with them: completion, subscription, a log level."""

import json
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Image, MCPServer, UserMessage
from mcp.types import (
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmbeddedResource,
    EmptyResult,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextResourceContents,
    UnsubscribeRequestParams,
)

from mcp_conformance.server.samples import PNG

__all__ = ["add_prompts", "add_resources"]


def add_resources(server: MCPServer[Any]) -> None:
    """Add resources, to read and to subscribe to."""

    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """An image."""
        return PNG

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched_resource() -> str:
        """A text to subscribe to."""
        return "watched"

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002  (the name in the template)
        """Data by id."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    async def accept(_context: ServerRequestContext[Any], _params: object) -> EmptyResult:
        return EmptyResult()

    # MCPServer has no public method to register these.
    for method, params in (
        ("resources/subscribe", SubscribeRequestParams),
        ("resources/unsubscribe", UnsubscribeRequestParams),
        ("logging/setLevel", SetLevelRequestParams),
    ):
        server._lowlevel_server.add_request_handler(method, params, accept)


def add_prompts(server: MCPServer[Any]) -> None:
    """Add prompts, and completion of their arguments."""

    @server.prompt()
    def test_simple_prompt() -> str:
        """A text."""
        return "This is a simple prompt for testing."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A text with two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
        """A resource and a text."""
        contents = TextResourceContents(
            uri=resourceUri, mime_type="text/plain", text="Embedded resource content for testing."
        )
        return [
            UserMessage(EmbeddedResource(type="resource", resource=contents)),
            UserMessage("Please process the embedded resource above."),
        ]

    @server.prompt()
    def test_prompt_with_image() -> list[UserMessage]:
        """An image and a text."""
        return [
            UserMessage(Image(data=PNG, format="png")),
            UserMessage("Please analyze the image above."),
        ]

    async def complete(
        _context: ServerRequestContext[Any], params: CompleteRequestParams
    ) -> CompleteResult:
        begun = params.argument.value
        values = [city for city in ("paris", "park", "party") if city.startswith(begun)]
        return CompleteResult(completion=Completion(values=values, total=len(values)))

    server._lowlevel_server.add_request_handler(
        "completion/complete", CompleteRequestParams, complete
    )
