"""Types and errors of the installed release of the official MCP SDK, 1 or 2."""

from importlib import import_module
from typing import Any, Final

from mcp.shared import exceptions

__all__ = ["INTERNAL_ERROR", "IS_SDK_1", "CallToolResult", "json_rpc_error", "types"]

IS_SDK_1: Final = not hasattr(exceptions, "MCPError")

#: The module of the types of messages.
types: Final[Any] = import_module("mcp.types" if IS_SDK_1 else "mcp_types")

CallToolResult: Final[Any] = types.CallToolResult
INTERNAL_ERROR: Final[int] = types.INTERNAL_ERROR


def json_rpc_error(code: int, message: str, data: Any = None) -> Exception:
    """Return the exception that a server of the SDK responds with as a JSON-RPC error."""
    if IS_SDK_1:
        kind: Any = exceptions.McpError  # type: ignore[attr-defined]
        return kind(types.ErrorData(code=code, message=message, data=data))  # type: ignore[no-any-return]
    return exceptions.MCPError(code, message, data)
