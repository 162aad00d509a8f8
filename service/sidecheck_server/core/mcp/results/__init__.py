"""Tool results: checks, and normalization of tool output to a ``CallToolResult``."""
