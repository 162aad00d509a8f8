"""Tools and a prompt that ask for input in their result, as servers do since 2026-07-28."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

__all__ = ["add_input_required"]

_Answer: TypeAlias = str | InputRequiredResult


def add_input_required(server: MCPServer[Any]) -> None:
    """Add the tools and the prompt to *server*."""
    _add_single_requests(server)
    _add_rounds(server)
    _add_capability_checks(server)

    @server.prompt()
    def test_input_required_result_prompt(context: Context) -> _Answer:
        """Ask for the context of the prompt."""
        if (response := _elicited(context, "user_context", "context")) is None:
            question = _elicit("What context should the prompt use?", "context")
            return _ask({"user_context": question})
        return f"Answer in this context: {response}"


def _add_single_requests(server: MCPServer[Any]) -> None:
    @server.tool()
    def test_input_required_result_elicitation(context: Context) -> _Answer:
        """Ask the user for a name."""
        if (name := _elicited(context, "user_name", "name")) is None:
            return _ask({"user_name": _elicit("What is your name?", "name")})
        return f"Hello, {name}!"

    @server.tool()
    def test_input_required_result_sampling(context: Context) -> _Answer:
        """Ask the client's model."""
        response = _response(context, "capital_question")
        if not isinstance(response, CreateMessageResult):
            return _ask({"capital_question": _sample("What is the capital of France?", 100)})
        return response.content.text if isinstance(response.content, TextContent) else "no text"

    @server.tool()
    def test_input_required_result_list_roots(context: Context) -> _Answer:
        """Ask for the client's roots."""
        response = _response(context, "client_roots")
        if not isinstance(response, ListRootsResult):
            return _ask({"client_roots": ListRootsRequest()})
        return ", ".join(str(root.uri) for root in response.roots)

    @server.tool()
    async def test_streaming_elicitation(context: Context) -> _Answer:
        """Report progress, then ask the user for a name."""
        await context.report_progress(1, 2)
        if (name := _elicited(context, "user_name", "name")) is None:
            return _ask({"user_name": _elicit("What is your name?", "name")})
        return f"Hello, {name}!"


def _add_rounds(server: MCPServer[Any]) -> None:
    """Add tools with a state, which the SDK seals."""

    @server.tool()
    def test_input_required_result_request_state(context: Context) -> _Answer:
        """Ask for a confirmation, with a state."""
        if _elicited(context, "confirm", "ok") is None or context.request_state != "asked":
            return _ask({"confirm": _elicit("Please confirm", "ok", "boolean")}, "asked")
        return "state-ok"

    @server.tool()
    def test_input_required_result_tampered_state(context: Context) -> _Answer:
        """Ask for a confirmation, with a state that may not be changed."""
        if _elicited(context, "confirm", "ok") is None or context.request_state != "asked":
            return _ask({"confirm": _elicit("Please confirm", "ok", "boolean")}, "asked")
        return "confirmed"

    @server.tool()
    def test_input_required_result_multiple_inputs(context: Context) -> _Answer:
        """Ask the user, the model and for the roots at once."""
        wanted: dict[str, InputRequest] = {
            "user_name": _elicit("What is your name?", "name"),
            "greeting": _sample("Generate a greeting", 50),
            "client_roots": ListRootsRequest(),
        }
        if wanted.keys() - (context.input_responses or {}).keys():
            return _ask(wanted, "asked")
        return f"{', '.join(wanted)}: given"

    @server.tool()
    def test_input_required_result_multi_round(context: Context) -> _Answer:
        """Ask for a name, then for a color."""
        if context.request_state is None:
            return _ask({"step1": _elicit("Step 1: What is your name?", "name")}, "name")
        if context.request_state == "name":
            name = _elicited(context, "step1", "name")
            color = _elicit("Step 2: What is your favorite color?", "color")
            return _ask({"step2": color}, f"color of {name}")
        color_given = _elicited(context, "step2", "color")
        return f"{context.request_state}: {color_given}"


def _add_capability_checks(server: MCPServer[Any]) -> None:
    @server.tool()
    def test_input_required_result_capabilities(context: Context) -> _Answer:
        """Request every input for which the client declares a capability."""
        capabilities = context.client_capabilities
        wanted: dict[str, InputRequest] = {}
        if capabilities is not None and capabilities.elicitation is not None:
            wanted["user_name"] = _elicit("What is your name?", "name")
        if capabilities is not None and capabilities.sampling is not None:
            wanted["greeting"] = _sample("Generate a greeting", 50)
        if context.input_responses or not wanted:
            return "nothing to ask for"
        return _ask(wanted)

    @server.tool()
    def test_missing_capability(context: Context) -> str:
        """Refuse clients that do not declare sampling."""
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.sampling is None:
            raise MCPError(
                MISSING_REQUIRED_CLIENT_CAPABILITY,
                "this tool needs sampling",
                {"requiredCapabilities": {"sampling": {}}},
            )
        return "sampling is declared"


def _ask(requests: Mapping[str, InputRequest], state: str | None = None) -> InputRequiredResult:
    return InputRequiredResult(input_requests=dict(requests), request_state=state)


def _elicit(message: str, name: str, kind: str = "string") -> ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str, max_tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    params = CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    return CreateMessageRequest(params=params)


def _response(context: Context, key: str) -> object:
    return (context.input_responses or {}).get(key)


def _elicited(context: Context, key: str, name: str) -> object:
    """Return what the user gave for the property *name*; None if nothing."""
    response = _response(context, key)
    if not isinstance(response, ElicitResult) or response.action != "accept":
        return None
    return (response.content or {}).get(name)
