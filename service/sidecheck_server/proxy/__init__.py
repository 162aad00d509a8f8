"""Validating proxy: relays the messages of an MCP connection and validates them."""
