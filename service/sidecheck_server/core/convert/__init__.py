"""Conversion of MCP tools, calls and results to and from the APIs of model providers."""
