"""Shapes: converted tools as the JSON of each API."""

from sidecheck_server.core.convert.shapes.tools import assembled, tool_json

__all__ = ["assembled", "tool_json"]
