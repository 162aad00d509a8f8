"""Outlines: values and subschemas in short, for descriptions."""

import json
from typing import Any

from sidecheck_server.core.convert.part import Part

__all__ = ["json_text", "outline", "shown"]

_LONGEST_VALUE = 200
_LONGEST = 240
_DEEPEST = 6
_WIDEST = 12
_MOST = 200
_LEFT_OUT = frozenset({"title", "description", "default", "examples", "readOnly", "writeOnly"})


def json_text(value: Any) -> str:
    """Return the shortest JSON text of *value*."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shown(value: Any) -> str:
    """Return *value* as JSON text of at most 200 characters, or the beginning of it."""
    text = json_text(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def outline(part: Part) -> str:
    """Return *part* as JSON text, or what fits of it into 240 characters."""
    text = json.dumps(_Shortening().short(part, 0), ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


class _Shortening:
    """One part in short: what references lead to stands in their place, for a while."""

    def __init__(self) -> None:
        self.left = _MOST

    def short(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if depth > _DEEPEST or self.left < 0:
            return "…"
        if isinstance(value, Part):
            if value.never:
                return False
            if value.keywords.keys() - _LEFT_OUT == {"$ref"}:
                return self.short(value.keywords["$ref"], depth + 1)
            value = {name: each for name, each in value.keywords.items() if name not in _LEFT_OUT}
        if isinstance(value, dict):
            return {name: self.short(value[name], depth + 1) for name in list(value)[:_WIDEST]}
        if isinstance(value, list):
            return [self.short(each, depth + 1) for each in value[:_WIDEST]]
        return value[:_LONGEST] if isinstance(value, str) else value
