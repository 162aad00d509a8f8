"""Adapts tool definitions and output schemas to protocol versions.

Versions before 2026-07-28 demand output schemas and structured content that are objects;
other output schemas are wrapped in an object with one property.
"""
