"""Anthropic: request types of its Python package."""

from typing import Any

from anthropic.types import ToolParam, ToolResultBlockParam
from pydantic import TypeAdapter

from providers.exactly import read_exactly

__all__ = ["validate_result", "validate_tool"]

_TOOL: TypeAdapter[Any] = TypeAdapter(ToolParam)
_RESULT: TypeAdapter[Any] = TypeAdapter(ToolResultBlockParam)


def validate_tool(text: bytes) -> None:
    """Raise if *text* is not an element of ``tools``."""
    read_exactly(_TOOL, text)


def validate_result(text: bytes) -> None:
    """Raise if *text* is not a block ``tool_result``."""
    read_exactly(_RESULT, text)
