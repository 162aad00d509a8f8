"""Ollama: the chat API of the server."""

from typing import Any

from sidecheck_server.core.convert.providers import openai
from sidecheck_server.core.convert.providers.provider import (
    Arguments,
    CallShape,
    Provider,
    RequestLimits,
    Source,
    ToolResult,
)
from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.mcp.name_grammars import LETTERS_TO_DASH_64

__all__ = ["CHAT"]


# Messages have `images`, but no document says which models accept them with a result.
def _write_result(result: ToolResult) -> dict[str, Any]:
    message = {"role": "tool", "tool_name": result.name, "content": result.text()}
    return {**message, "tool_call_id": result.call_id} if result.call_id else message


CHAT = Provider(
    key=ModelApi.OLLAMA,
    display_name="Ollama's chat",
    tool_names=LETTERS_TO_DASH_64,
    property_names=None,
    compatible=Subset(
        # The server silently drops every other keyword.
        keywords=frozenset(
            {"anyOf", "description", "enum", "items", "properties", "required", "type"}
        ),
        # The root has fewer fields than a property.
        not_at_root=frozenset({"anyOf", "description", "enum"}),
        references=References.NOWHERE,
        recursion=False,
        boolean_schemas=False,
        properties_at_root=True,
    ),
    strict=None,
    request_limits=RequestLimits(),
    sources=(
        Source(
            "compatible",
            "https://github.com/ollama/ollama at fb3076099, api/types.go, "
            "ToolFunctionParameters and ToolProperty",
            "2026-08-21",
        ),
        Source(
            "write_tool, call and write_result; arguments as an object. Later servers "
            "send an id with a call",
            "ollama 0.6.3, _types.py, Tool, Message and Message.ToolCall",
            "2026-11-22",
        ),
        Source("tool_names; how many tools a request may have", "", ""),
    ),
    write_tool=openai.write_chat_tool,
    call=CallShape(
        openai.CHAT_CALL.name,
        openai.CHAT_CALL.id,
        openai.CHAT_CALL.arguments,
        Arguments.OBJECT,
        openai.CHAT_CALL.display_name,
    ),
    write_result=_write_result,
    result_requires_call_id=False,
    result_requires_name=True,
)
