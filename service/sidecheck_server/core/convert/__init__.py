"""Conversion: MCP tools in the form of providers' APIs, and calls and results between them."""
