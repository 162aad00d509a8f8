"""Servicers of the gateway protocols, which validate MCP traffic for gateways."""
