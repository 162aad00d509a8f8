"""Tools that send the client a request, as servers do up to 2025-11-25."""

from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.session import ServerSession
from mcp.types import ElicitResult, SamplingMessage, TextContent

__all__ = ["add_client_requests"]

_USER = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}

_DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}


def _titled(prefix: str, titles: list[str]) -> list[dict[str, str]]:
    return [{"const": f"{prefix}{i}", "title": title} for i, title in enumerate(titles, 1)]


_OPTIONS = ["option1", "option2", "option3"]
_ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _OPTIONS},
        "titledSingle": {
            "type": "string",
            "oneOf": _titled("value", ["First Option", "Second Option", "Third Option"]),
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": _titled("value", ["First Choice", "Second Choice", "Third Choice"])},
        },
    },
}


def add_client_requests(server: MCPServer[Any]) -> None:
    """Add the tools to *server*."""

    @server.tool()
    async def test_sampling(prompt: str, context: Context) -> str:
        """Ask the client's model."""
        message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        result = await context.session.create_message(
            [message], max_tokens=100, related_request_id=context.request_id
        )
        content = result.content
        return f"LLM response: {content.text if isinstance(content, TextContent) else ''}"

    @server.tool()
    async def test_elicitation(message: str, context: Context) -> str:
        """Ask the user for a name and an address."""
        return f"User response: {_outcome(await _elicit(context, message, _USER))}"

    @server.tool()
    async def test_elicitation_sep1034_defaults(context: Context) -> str:
        """Ask the user for one value of each type, with its default."""
        result = await _elicit(context, "Check these values", _DEFAULTS)
        return f"Elicitation completed: {_outcome(result)}"

    @server.tool()
    async def test_elicitation_sep1330_enums(context: Context) -> str:
        """Ask the user to choose, in each way there is."""
        result = await _elicit(context, "Choose", _ENUMS)
        return f"Elicitation completed: {_outcome(result)}"


async def _elicit(context: Context, message: str, schema: dict[str, Any]) -> ElicitResult:
    session: ServerSession = context.session
    return await session.elicit_form(message, schema, related_request_id=context.request_id)


def _outcome(result: ElicitResult) -> str:
    return f"action={result.action}, content={result.content}"
