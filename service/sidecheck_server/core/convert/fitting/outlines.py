"""Outlines: subschemas in short, for descriptions."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.part import Part

__all__ = ["outline", "said_of"]

_LONGEST = 240
_LONGEST_PHRASE = 600
_DEEPEST = 6
_WIDEST = 12
_MOST = 200
_LEFT_OUT = frozenset({"title", "description", "default", "examples", "readOnly", "writeOnly"})


def outline(part: Part) -> str:
    """Return *part* as JSON text, or what fits of it into 240 characters."""
    text = json.dumps(_Shortening().short(part, 0), ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def said_of(keyword: str, keywords: dict[str, Any]) -> str:
    """Return what *keyword* and those that go along with it say, in at most 600 characters."""
    phrase = _PHRASES.get(keyword)
    if phrase is not None:
        text = phrase(keywords)
    else:
        value = keywords[keyword]
        branches = value if isinstance(value, list) else [value]
        if keyword not in _IN_WORDS:
            branches = [Part((), {keyword: value})]
        listed = " or ".join(
            "nothing" if each.never else outline(each) for each in branches[:_WIDEST]
        )
        text = f"{_IN_WORDS.get(keyword, 'like')} {listed}"
    return text if len(text) <= _LONGEST_PHRASE else text[: _LONGEST_PHRASE - 1] + "…"


def _conditional(keywords: dict[str, Any]) -> str:
    cases = [f"{name} {outline(keywords[name])}" for name in ("then", "else") if name in keywords]
    return f"if {outline(keywords['if'])}, {', '.join(cases)}"


def _contained(keywords: dict[str, Any]) -> str:
    least, most = keywords.get("minContains", 1), keywords.get("maxContains")
    often = f"at least {least}" if most is None else f"{least} to {most}"
    return f"{often} of the items are like {outline(keywords['contains'])}"


def _needed(keywords: dict[str, Any]) -> str:
    listed = list(keywords["dependentRequired"].items())[:_WIDEST]
    return "; ".join(f"{name} needs {', '.join(names[:_WIDEST])}" for name, names in listed)


def _depending(keywords: dict[str, Any]) -> str:
    listed = list(keywords["dependentSchemas"].items())[:_WIDEST]
    return "; ".join(f"with {name}: {outline(each)}" for name, each in listed)


_PHRASES: Mapping[str, Callable[[dict[str, Any]], str]] = MappingProxyType(
    {
        "if": _conditional,
        "contains": _contained,
        "dependentRequired": _needed,
        "dependentSchemas": _depending,
    }
)

_IN_WORDS = {
    "anyOf": "like one of",
    "oneOf": "like exactly one of",
    "not": "not like",
    "propertyNames": "names of members are like",
    "unevaluatedProperties": "other members are like",
    "unevaluatedItems": "other items are like",
}


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
