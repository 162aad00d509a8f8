"""The Sidecheck service: validates MCP tool definitions and payloads over gRPC."""

__all__ = ["__version__"]

__version__ = "0.1.0"
