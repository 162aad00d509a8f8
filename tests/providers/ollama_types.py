"""Ollama: models of its Python package."""

import json
from typing import Any

from ollama import Message, Tool
from pydantic import TypeAdapter

from providers.exactly import read_exactly

__all__ = ["validate_result", "validate_tool"]

_TOOL: TypeAdapter[Any] = TypeAdapter(Tool)
_RESULT: TypeAdapter[Any] = TypeAdapter(Message)

# The server's struct has fields that the package's models lack (ollama at fb3076099,
# api/types.go, ToolProperty and Message).
_PROPERTY = {"type", "items", "description", "enum", "anyOf", "properties", "required"}


def validate_tool(text: bytes) -> None:
    """Raise if *text* is not an element of ``tools``, or the server would drop keywords."""
    tool = json.loads(text)
    parameters = tool["function"]["parameters"]
    for schema in parameters.get("properties", {}).values():
        _check_schema(schema)
        for name in ("anyOf", "properties", "required"):
            schema.pop(name, None)
    read_exactly(_TOOL, json.dumps(tool).encode())


def _check_schema(schema: Any) -> None:
    assert set(schema) <= _PROPERTY, f"the server drops {set(schema) - _PROPERTY}"
    for subschema in (*schema.get("anyOf", ()), *schema.get("properties", {}).values()):
        _check_schema(subschema)


def validate_result(text: bytes) -> None:
    """Raise if *text* is not a message with the role ``tool``."""
    message = json.loads(text)
    assert message["role"] == "tool", "a result must have the role tool"
    assert isinstance(message.pop("tool_call_id", ""), str), "tool_call_id must be a string"
    read_exactly(_RESULT, json.dumps(message).encode())
    assert Message.model_validate(message).tool_name, "a result must have the name of the tool"
