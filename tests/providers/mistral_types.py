"""Mistral: models of its Python package."""

from typing import Any

from mistralai.client.models import Tool, ToolMessage
from pydantic import TypeAdapter

from providers.exactly import read_exactly

__all__ = ["validate_result", "validate_tool"]

_TOOL: TypeAdapter[Any] = TypeAdapter(Tool)
_RESULT: TypeAdapter[Any] = TypeAdapter(ToolMessage)


def validate_tool(text: bytes) -> None:
    """Raise if *text* is not an element of ``tools``."""
    read_exactly(_TOOL, text)


def validate_result(text: bytes) -> None:
    """Raise if *text* is not a message with the role ``tool``."""
    read_exactly(_RESULT, text)
    message = ToolMessage.model_validate_json(text)
    for chunk in message.content if isinstance(message.content, list) else []:
        assert chunk.type != "UNKNOWN", f"the package does not know {chunk}"
