"""Guides: the way back from a model's arguments to those of the original schema."""

from typing import Any, TypeAlias

from sidecheck_server.core.convert.part import Part

__all__ = ["Guide", "guide_of"]

Guide: TypeAlias = dict[str, Any]
"""See `guide_of`; a JSON object."""


def guide_of(root: Part) -> Guide | None:
    """Return how to undo what was done to payloads at *root*, or None if nothing was."""
    raise NotImplementedError
