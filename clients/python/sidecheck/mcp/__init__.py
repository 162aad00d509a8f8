"""Validation of the tool calls of an MCP server.

`with_sidecheck` takes the servers of the official MCP SDK, 1 and 2, and of the package
``fastmcp``, 2 to 4. `sidecheck.mcp.fastmcp.SidecheckMiddleware` is the same as a middleware of
fastmcp 4. ``sidecheck`` does not import this package.
"""

try:
    from sidecheck.mcp.servers import with_sidecheck
except ImportError as error:
    raise ImportError("sidecheck.mcp needs the MCP SDK: pip install 'mcp>=1.26,<3'") from error

__all__ = ["with_sidecheck"]
