"""One strict reading of a JSON text by a type: nothing unknown, and nothing left unread."""

import json
from typing import Any

from pydantic import TypeAdapter

__all__ = ["read_exactly"]


def read_exactly(adapter: TypeAdapter[Any], text: bytes) -> None:
    """Raise if *text* is none of *adapter*'s type, or has members that the type has not."""
    _exhaust(adapter.validate_json(text, extra="forbid"), json.loads(text))


def _exhaust(read: Any, given: Any) -> None:
    """Read the iterables in *read*, what pydantic made of *given*: only then it validates them.

    Where a string may stand as well as an iterable, it takes a string for the latter.
    """
    if isinstance(given, dict) and isinstance(read, dict):
        for name, value in given.items():
            _exhaust(read[name], value)
    elif isinstance(given, list):
        for item, value in zip(read, given, strict=True):
            _exhaust(item, value)
