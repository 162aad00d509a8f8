"""Normalising: whatever a tool returned, as a ``CallToolResult`` that conforms."""

from sidecheck_server.core.mcp.results.normalize import (
    Content,
    Failure,
    Returned,
    Value,
    Whole,
    normalized,
    text_result,
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
