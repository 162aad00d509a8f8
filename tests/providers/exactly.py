"""Strict validation of a JSON text against a type, without unknown or lazy parts."""

import json
from typing import Any

from pydantic import TypeAdapter

__all__ = ["read_exactly"]


def read_exactly(adapter: TypeAdapter[Any], text: bytes) -> None:
    """Raise if *text* is not of *adapter*'s type, or has properties that the type does not have."""
    _exhaust(adapter.validate_json(text, extra="forbid"), json.loads(text))


def _exhaust(read: Any, given: Any) -> None:
    """Consume the iterables in *read*, pydantic's result for *given*, which validates them.

    If a string is allowed beside an iterable, pydantic treats a string as the latter.
    """
    if isinstance(given, dict) and isinstance(read, dict):
        for name, value in given.items():
            _exhaust(read[name], value)
    elif isinstance(given, list):
        for item, value in zip(read, given, strict=True):
            _exhaust(item, value)
