"""Size of a schema, in the units of the limits of providers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.providers.subset import SchemaLimits
from sidecheck_server.core.convert.schema_graph import SchemaNode, reachable

__all__ = ["SchemaSize", "describe_excess", "measure_schema"]

_LARGE_ENUM = 250
"""Number of values above which an enum has a limit of its own for its text."""


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

    The target of references is counted once. The depth is that of the longest path on which
    no node occurs twice.
    """
    nodes = reachable(root)
    references = [node.keywords["$ref"] for node in nodes if "$ref" in node.keywords]
    targets = {id(target): target for target in references}
    objects = [node.keywords for node in nodes if "properties" in node.keywords]
    properties = [item for keywords in objects for item in keywords["properties"].items()]
    enums = [node.keywords["enum"] for node in nodes if "enum" in node.keywords]
    constants = [node.keywords["const"] for node in nodes if "const" in node.keywords]
    return SchemaSize(
        properties=len(properties),
        depth=_depth(root),
        text=sum(len(name) for name, _ in properties)
        + sum(len(target.name) for target in targets.values() if target is not root)
        + sum(map(_length, [*constants, *(value for values in enums for value in values)])),
        enum_values=sum(map(len, enums)),
        enum_text=max(map(_length_of_large, enums), default=0),
        optional=sum(
            len(keywords["properties"].keys() - keywords.get("required", ()))
            for keywords in objects
        ),
        unions=sum(_is_union(schema) for _, schema in properties),
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
"""What is counted, by the names of `SchemaLimits`."""


def describe_excess(size: SchemaSize, limits: SchemaLimits) -> str:
    """Return the first of *limits* that *size* exceeds, in words, or ""."""
    for limit in fields(limits):
        maximum, actual = getattr(limits, limit.name), getattr(size, limit.name)
        if maximum is not None and actual > maximum:
            return f"{actual:,} {_NOUNS[limit.name]} (limit {maximum:,})"
    return ""


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str) else len(json.dumps(value))


def _length_of_large(values: list[Any]) -> int:
    strings = all(isinstance(value, str) for value in values)
    return sum(map(len, values)) if strings and len(values) > _LARGE_ENUM else 0


def _is_union(schema: SchemaNode) -> bool:
    types = schema.keywords.get("type")
    return "anyOf" in schema.keywords or (isinstance(types, list) and len(types) > 1)


def _depth(root: SchemaNode) -> int:
    """Return the number of objects and arrays on the longest path down from *root*.

    A path ends where it returns to a node above. The depth of a node is computed once for
    all paths to it, so that on cycles the result depends on where they are entered.
    """
    depths: dict[int, int] = {}
    above = {id(root)}
    stack = [(root, root.children())]
    while stack:
        node, rest = stack[-1]
        if rest:
            child = rest.pop()
            if id(child) not in depths and id(child) not in above:
                above.add(id(child))
                stack.append((child, child.children()))
            continue
        stack.pop()
        above.discard(id(node))
        inner = max((depths.get(id(child), 0) for child in node.children()), default=0)
        depths[id(node)] = inner + _is_level(node)
    return depths[id(root)]


def _is_level(node: SchemaNode) -> bool:
    types = node.keywords.get("type", ())
    nests = any(name in node.keywords for name in ("properties", "items", "prefixItems"))
    return nests or "object" in types or "array" in types
