"""MCP: models of its Python SDK."""

from typing import Any

from mcp_types import CallToolResult, Tool
from pydantic import TypeAdapter

from providers.exactly import read_exactly

__all__ = ["validate_result", "validate_tool"]

_TOOL: TypeAdapter[Any] = TypeAdapter(Tool)
_RESULT: TypeAdapter[Any] = TypeAdapter(CallToolResult)


def validate_tool(text: bytes) -> None:
    """Raise if *text* is not an element of ``tools`` in a result of ``tools/list``."""
    read_exactly(_TOOL, text)


def validate_result(text: bytes) -> None:
    """Raise if *text* is not a result of ``tools/call``."""
    read_exactly(_RESULT, text)
