/**
 * Validation of the tools of an MCP server of the official SDK; it needs {@code
 * io.modelcontextprotocol.sdk:mcp}, an optional dependency.
 */
package io.sidecheck.mcp;
