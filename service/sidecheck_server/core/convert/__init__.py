"""Conversion of MCP tools, calls and results for the APIs of model providers."""
