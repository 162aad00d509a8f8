"""Rulings of the proxy on the messages of one MCP connection, without I/O."""
