"""A client of MCP servers, which lists their tools."""
