"""Comparison of tool definitions: what changed, and whether it breaks callers."""
