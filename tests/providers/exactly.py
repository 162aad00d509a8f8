"""One strict reading of a JSON text by a type: nothing unknown, and nothing left unread."""

from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter

__all__ = ["read_exactly"]


def read_exactly(adapter: TypeAdapter[Any], text: bytes) -> None:
    """Raise if *text* is none of *adapter*'s type, or has members that the type has not."""
    _exhaust(adapter.validate_json(text, extra="forbid"))


def _exhaust(value: Any) -> None:
    """Read iterables in *value*, which pydantic validates when they are read."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | Iterator):
        return
    for item in value:
        _exhaust(item)
