"""Parts as fitting leaves them, with what is to be undone there."""

from typing import Any

from sidecheck_server.core.convert.part import Entries, Part, Undo

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


def part(undo: Undo | None = None, /, **keywords: Any) -> Part:
    """Return a part; ``ref`` stands for ``$ref``."""
    if "ref" in keywords:
        keywords["$ref"] = keywords.pop("ref")
    return Part((), keywords, undo=undo or Undo())


def never() -> Part:
    return Part((), never=True)


def an_object(undo: Undo | None = None, /, **members: Part) -> Part:
    return part(undo, type="object", properties=members)


def closed(**members: Part) -> Part:
    made = an_object(**members)
    made.keywords |= {"required": list(members), "additionalProperties": never()}
    return made


def nulls(*names: str) -> Undo:
    return Undo(nulls=list(names))


def text() -> Part:
    return part(Undo(json_text=True), type="string")


def entries(value: Part) -> Part:
    return part(
        Undo(entries=Entries()),
        type="array",
        items=closed(name=part(type="string"), value=value),
    )


STRING, NULL = part(type="string"), part(type="null")
TEXT = {"json_text": True}
BY_NAME = {"name": "name", "value": "value"}
