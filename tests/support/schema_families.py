"""Families of schemas with a large memory for their text, each in different structures.

A family is a function that returns a distinct schema for each number.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["FAMILIES"]


def _patterns(count: int, pattern: str) -> Callable[[int], Any]:
    """Return the family of *count* patterns, with the numbers of schema and pattern in each."""
    return lambda n: {
        "properties": {
            f"p{i}": {"pattern": pattern.replace("<n>", str(n)).replace("<i>", str(i))}
            for i in range(count)
        }
    }


def _nested(n: int) -> Any:
    schema: Any = {"const": n}
    for level in range(28):
        schema = {"properties": {f"p{level}": schema}}
    return schema


def _references(n: int) -> Any:
    parts = {f"d{i}": {"type": "array", "items": {"$ref": f"#/$defs/d{i + 1}"}} for i in range(150)}
    return {"$defs": {**parts, "d150": {"const": n}}, "$ref": "#/$defs/d0"}


def _resources(n: int) -> Any:
    parts = {f"d{i}": {"$id": f"urn:x:{n}:{i}", "type": "string"} for i in range(200)}
    return {"$defs": parts, "$ref": f"urn:x:{n}:3"}


def _branches(n: int) -> Any:
    return {
        "anyOf": [
            {"properties": {"k": {"const": f"{n}{i}"}, "v": {"type": "integer"}}, "required": ["k"]}
            for i in range(120)
        ]
    }


FAMILIES: Mapping[str, Callable[[int], Any]] = MappingProxyType(
    {
        "a constant": lambda n: {"const": n},
        "a small object": lambda n: {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer", "minimum": n}},
            "required": ["a"],
        },
        "a long title": lambda n: {"title": f"{n}" + "x" * 15_000},
        "long descriptions": lambda n: {
            "properties": {
                f"p{i}": {"type": "string", "description": f"{n}" + "x" * 700} for i in range(20)
            }
        },
        "many short strings": lambda n: {"enum": [f"v{n}_{i}" for i in range(1200)]},
        "long strings": lambda n: {"enum": [f"{n}_{i}" + "x" * 1000 for i in range(15)]},
        "strings that are not ASCII": lambda n: {"enum": [f"中文{n}_{i}" for i in range(600)]},
        "integers": lambda n: {"enum": [n * 10_000 + i for i in range(1500)]},
        "arrays": lambda n: {"enum": [[i, n] for i in range(1000)]},
        "objects": lambda n: {"items": {"enum": [{"a": i, "b": [n]} for i in range(700)]}},
        "deep nesting": _nested,
        "many properties": lambda n: {
            "properties": {f"p{n}_{i}": {"type": "string", "maxLength": i + 1} for i in range(250)}
        },
        "required properties": lambda n: {"required": [f"name{n}_{i}" for i in range(700)]},
        "dependencies": lambda n: {
            "title": f"{n}",
            "dependentRequired": {f"a{i}": [f"b{i}", f"c{i}"] for i in range(300)},
        },
        "empty subschemas": lambda n: {"title": f"{n}", "allOf": [{} for _ in range(3000)]},
        "small subschemas": lambda n: {
            "title": f"{n}",
            "allOf": [{"minimum": i} for i in range(700)],
        },
        "branches": _branches,
        "references": _references,
        "resources": _resources,
        "dynamic references": lambda n: {
            "$defs": {"a": {"$dynamicAnchor": "x"}},
            "title": f"{n}",
            "properties": {f"p{i}": {"$dynamicRef": "#x"} for i in range(150)},
        },
        "unevaluated properties": lambda n: {
            "title": f"{n}",
            "allOf": [{"properties": {f"p{i}": {"type": "integer"}}} for i in range(120)],
            "unevaluatedProperties": False,
        },
        "literal patterns": lambda n: {
            "patternProperties": {f"^x{n}_{i}": {"type": "string"} for i in range(120)}
        },
        "patterns": _patterns(120, "^[a-z]{1,20}-<n>_<i>$"),
        "patterns with many states": _patterns(60, "(a|b)*a(a|b){9}(?:<n>x<i>)?$"),
        "patterns with large states": _patterns(60, "(?:a|ab|ba|x){0,20}y<n>?x<i>|z"),
        "patterns that look ahead": _patterns(20, r"^(?!\.)(?!.*\.\.)(?=.*<n>x<i>).+$"),
        "classes of letters": _patterns(8, r"^\p{L}{1,3}<n>_<i>$"),
        "large patterns": _patterns(4, r"^(?:[a-z0-9]{1,60}\.){1,2<i>}<n>$"),
        "a long alternative": lambda n: {
            "pattern": "^(?:" + "|".join(f"{i * 7919 % 1000}{n}" for i in range(120)) + ")$"
        },
    }
)
