"""Normalising: whatever a tool returned, as a ``CallToolResult`` that conforms."""

from sidecheck_server.core.mcp.results.normalize import normalized, text_result
from sidecheck_server.core.mcp.results.returned import (
    Content,
    Failure,
    Returned,
    Value,
    Whole,
)

__all__ = [
    "Content",
    "Failure",
    "Returned",
    "Value",
    "Whole",
    "normalized",
    "text_result",
]
