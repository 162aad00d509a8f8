"""MCP: models of its Python SDK."""

import json
from typing import Any

from mcp_types import CallToolResult, Tool, ToolAnnotations
from pydantic import TypeAdapter

from providers.exactly import read_exactly

__all__ = ["validate_result", "validate_tool"]

_TOOL: TypeAdapter[Any] = TypeAdapter(Tool)
_RESULT: TypeAdapter[Any] = TypeAdapter(CallToolResult)


def validate_tool(text: bytes) -> None:
    """Raise if *text* is not an element of ``tools`` in a result of ``tools/list``."""
    tool = json.loads(text)
    # They pass unchanged, and their type is open: authors have hints of their own.
    ToolAnnotations.model_validate(tool.pop("annotations", {}))
    read_exactly(_TOOL, json.dumps(tool).encode())


def validate_result(text: bytes) -> None:
    """Raise if *text* is not a result of ``tools/call``."""
    read_exactly(_RESULT, text)
