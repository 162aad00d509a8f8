"""The official conformance suite of MCP, run against a server directly and through the proxy."""
