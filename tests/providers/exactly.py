"""Strict validation of a JSON text against a type, without unknown or lazy parts."""

import json
from typing import Any

from pydantic import TypeAdapter

__all__ = ["read_exactly"]


def read_exactly(adapter: TypeAdapter[Any], text: bytes) -> None:
    """Raise if *text* is not of *adapter*'s type, or has properties that the type does not have."""
    _exhaust(adapter.validate_json(text, extra="forbid"), json.loads(text))


def _exhaust(read: Any, raw: Any) -> None:
    """Consume the iterables in *read*, pydantic's result for *raw*, which validates them.

    If a string is allowed beside an iterable, pydantic treats a string as the latter.
    """
    if isinstance(raw, dict) and isinstance(read, dict):
        for name, value in raw.items():
            _exhaust(read[name], value)
    elif isinstance(raw, list):
        for item, value in zip(read, raw, strict=True):
            _exhaust(item, value)
