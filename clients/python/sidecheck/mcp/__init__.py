"""Validation of the tool calls of an MCP server.

`with_sidecheck` is for a low-level ``Server`` of the official MCP SDK;
`sidecheck.mcp.fastmcp.SidecheckMiddleware` is for FastMCP. Both need the extra ``mcp`` of
this package. ``sidecheck`` does not import this package.
"""

try:
    from sidecheck.mcp.lowlevel import with_sidecheck
except ImportError as error:
    raise ImportError("sidecheck.mcp needs the MCP SDK: pip install 'mcp>=2,<3'") from error

__all__ = ["with_sidecheck"]
