"""Adapts tool definitions and output schemas to protocol versions.

Versions before 2026-07-28 require structured content to be an object. For these versions, an
output schema of other values is wrapped in an object schema with one property.
"""
