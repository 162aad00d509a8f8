"""Strict validation of a JSON text against a type, without unknown or lazy parts."""

import json
from typing import Any

from pydantic import TypeAdapter

__all__ = ["read_exactly"]


def read_exactly(adapter: TypeAdapter[Any], text: bytes) -> None:
    """Raise if *text* is not of *adapter*'s type, or has properties unknown to it.

    Properties have the names of the JSON, which models may know by others in Python.
    """
    parsed = adapter.validate_json(text, extra="forbid", by_alias=True, by_name=False)
    _exhaust(parsed, json.loads(text))


def _exhaust(parsed: Any, raw: Any) -> None:
    """Consume the iterables in *parsed*, pydantic's result for *raw*, to validate them.

    If a string is allowed beside an iterable, pydantic treats a string as the latter.
    """
    if isinstance(raw, dict) and isinstance(parsed, dict):
        for name, value in raw.items():
            _exhaust(parsed[name], value)
    elif isinstance(raw, list):
        for item, value in zip(parsed, raw, strict=True):
            _exhaust(item, value)
