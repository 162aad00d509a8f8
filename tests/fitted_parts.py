"""Parts as fitting leaves them, with what is to be undone there."""

from typing import Any

from sidecheck_server.core.convert.schema_graph import Encoding, Entries, SchemaNode

__all__ = [
    "BY_NAME",
    "NULL",
    "STRING",
    "TEXT",
    "an_object",
    "closed",
    "entries",
    "never",
    "nulls",
    "part",
    "text",
]


def part(undo: Encoding | None = None, /, **keywords: Any) -> SchemaNode:
    """Return a part; ``ref`` stands for ``$ref``."""
    if "ref" in keywords:
        keywords["$ref"] = keywords.pop("ref")
    return SchemaNode((), keywords, encoding=undo or Encoding())


def never() -> SchemaNode:
    return SchemaNode((), never=True)


def an_object(undo: Encoding | None = None, /, **members: SchemaNode) -> SchemaNode:
    return part(undo, type="object", properties=members)


def closed(**members: SchemaNode) -> SchemaNode:
    made = an_object(**members)
    made.keywords |= {"required": list(members), "additionalProperties": never()}
    return made


def nulls(*names: str) -> Encoding:
    return Encoding(nulls=list(names))


def text() -> SchemaNode:
    return part(Encoding(json_text=True), type="string")


def entries(value: SchemaNode) -> SchemaNode:
    return part(
        Encoding(entries=Entries()),
        type="array",
        items=closed(name=part(type="string"), value=value),
    )


STRING, NULL = part(type="string"), part(type="null")
TEXT = {"json_text": True}
BY_NAME = {"name": "name", "value": "value"}
