"""Boxes: output schemas and values that are no objects, for versions that have only objects."""
