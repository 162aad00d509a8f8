"""Size of a schema, in the units of providers' limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.providers.subset import SchemaLimits
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.payload import encode_json

__all__ = ["SchemaSize", "describe_excess", "measure_schema"]

_LARGE_ENUM = 250
"""Number of values above which a limit applies to the text of one enum."""


@dataclass(frozen=True, slots=True)
class SchemaSize:
    """Size of a schema."""

    properties: int
    depth: int
    #: Characters of property names, definition names and values of enum and const.
    text: int
    enum_values: int
    #: Characters of the largest enum of more than 250 strings.
    enum_text: int
    #: Properties that are not required.
    optional: int
    #: Properties whose type is a union.
    unions: int


def measure_schema(root: SchemaNode) -> SchemaSize:
    """Return the size of the transformed schema at *root*.

    The target of references is counted once. The depth is the length of the longest path on
    which no node occurs twice.
    """
    depths = _depths(root)
    names: list[str] = []
    targets: set[SchemaNode] = set()
    constants: list[Any] = []
    enums: list[list[Any]] = []
    optional = unions = 0
    for node in depths:
        keywords = node.keywords
        if "properties" in keywords:
            properties: dict[str, SchemaNode] = keywords["properties"]
            names += properties
            optional += len(properties.keys() - keywords.get("required", ()))
            unions += sum(map(_is_union, properties.values()))
        if "$ref" in keywords:
            targets.add(keywords["$ref"])
        if "enum" in keywords:
            enums.append(keywords["enum"])
        if "const" in keywords:
            constants.append(keywords["const"])
    count = len(names)
    names += (target.name for target in targets if target is not root)
    return SchemaSize(
        properties=count,
        depth=depths[root],
        text=sum(map(len, names)) + sum(map(_length, chain(constants, *enums))),
        enum_values=sum(map(len, enums)),
        enum_text=max(map(_length_of_large_enum, enums), default=0),
        optional=optional,
        unions=unions,
    )


_NOUNS: Mapping[str, str] = MappingProxyType(
    {
        "properties": "properties in all objects together",
        "depth": "levels of nesting",
        "text": "characters of names and of values of enum and const",
        "enum_values": "values in all enums together",
        "enum_text": "characters in the values of one enum",
    }
)
"""Nouns for messages, by the fields of `SchemaLimits`, in the order of checks."""


def describe_excess(size: SchemaSize, limits: SchemaLimits) -> str:
    """Return the first of *limits* that *size* exceeds, in words, or ""."""
    for name, noun in _NOUNS.items():
        maximum, actual = getattr(limits, name), getattr(size, name)
        if maximum is not None and actual > maximum:
            return f"{actual:,} {noun} (limit {maximum:,})"
    return ""


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str) else len(encode_json(value))


def _length_of_large_enum(values: list[Any]) -> int:
    strings = all(isinstance(value, str) for value in values)
    return sum(map(len, values)) if strings and len(values) > _LARGE_ENUM else 0


def _is_union(schema: SchemaNode) -> bool:
    types = schema.keywords.get("type")
    return "anyOf" in schema.keywords or (isinstance(types, list) and len(types) > 1)


def _depths(root: SchemaNode) -> dict[SchemaNode, int]:
    """Return the number of objects and arrays on the longest path down from each node.

    A path ends where it returns to a node above. The depth of a node is computed once for all
    paths, so on a cycle the result depends on the node at which the first path enters it.
    """
    depths: dict[SchemaNode, int] = {}
    above = {root}
    children = root.children()
    stack = [(root, children, reversed(children))]
    while stack:
        node, children, rest = stack[-1]
        for child in rest:
            if child in depths or child in above:
                continue
            below = child.children()
            if not below:
                depths[child] = int(_is_level(child))
            else:
                above.add(child)
                stack.append((child, below, reversed(below)))
                break
        else:
            stack.pop()
            above.discard(node)
            inner = max([depths.get(child, 0) for child in children], default=0)
            depths[node] = inner + _is_level(node)
    return depths


_NESTING = frozenset({"properties", "items", "prefixItems"})


def _is_level(node: SchemaNode) -> bool:
    types = node.keywords.get("type", ())
    return "object" in types or "array" in types or not _NESTING.isdisjoint(node.keywords)
