"""Transformed nodes, with their encodings."""

from typing import Any

from sidecheck_server.core.convert.schema_graph import UNCHANGED, Encoding, Entries, SchemaNode

__all__ = [
    "BY_NAME",
    "NULL",
    "STRING",
    "TEXT",
    "closed",
    "entries",
    "never",
    "node",
    "nulls",
    "object_node",
    "text",
]


def node(encoding: Encoding | None = None, /, **keywords: Any) -> SchemaNode:
    """Return a node; ``ref`` stands for ``$ref``."""
    if "ref" in keywords:
        keywords["$ref"] = keywords.pop("ref")
    return SchemaNode((), keywords, encoding=encoding or UNCHANGED)


def never() -> SchemaNode:
    return SchemaNode((), never=True)


def object_node(encoding: Encoding | None = None, /, **properties: SchemaNode) -> SchemaNode:
    return node(encoding, type="object", properties=properties)


def closed(**properties: SchemaNode) -> SchemaNode:
    transformed = object_node(**properties)
    transformed.keywords |= {"required": list(properties), "additionalProperties": never()}
    return transformed


def nulls(*names: str) -> Encoding:
    return Encoding(nulls=names)


def text() -> SchemaNode:
    return node(Encoding(json_text=True), type="string")


def entries(value: SchemaNode) -> SchemaNode:
    return node(
        Encoding(entries=Entries()),
        type="array",
        items=closed(name=node(type="string"), value=value),
    )


STRING, NULL = node(type="string"), node(type="null")
TEXT = {"json_text": True}
BY_NAME = {"name": "name", "value": "value"}
