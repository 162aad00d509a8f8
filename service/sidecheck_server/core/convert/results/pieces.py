"""The content of a result, taken apart: texts, and media with what names them in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck_server.core.convert.results.told import Told
from sidecheck_server.core.convert.words import Action

__all__ = ["Media", "Piece", "pieces_of"]

At: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Media:
    """What is not text."""

    #: As in ``image/png``, in lower case and without parameters.
    mime_type: str
    #: In Base64.
    data: str
    #: The URI of the resource that it is the content of, or "".
    uri: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A text, or media."""

    at: At
    #: What is said; of media, in its place where it cannot be shown.
    text: str
    media: Media | None = None


def pieces_of(content: list[Any], told: Told) -> list[Piece]:
    """Return the blocks of *content*, a valid one, in order, but for texts that are blank."""
    pieces = []
    for index, block in enumerate(content):
        at: At = ("content", index)
        piece = _READERS.get(str(block.get("type")), _unknown)(at, block, told)
        # Anthropic's API and Bedrock's refuse a message with a blank text.
        if piece.text.strip():
            pieces.append(piece)
        else:
            told.tell(at, Action.DROPPED, "is blank, which some APIs refuse")
    return pieces


def _drop_others(at: At, value: Mapping[str, Any], said: frozenset[str], told: Told) -> None:
    for name in value:
        if name not in said:
            told.tell((*at, name), Action.DROPPED, "the model is not told")


_TEXT = frozenset({"type", "text"})
_DATA = frozenset({"type", "data", "mimeType"})
_LINK = frozenset({"type", "name", "title", "uri", "mimeType", "size", "description"})
_EMBEDDED = frozenset({"type", "resource"})
_CONTENTS = frozenset({"uri", "mimeType", "text", "blob"})


def _text(at: At, block: dict[str, Any], told: Told) -> Piece:
    _drop_others(at, block, _TEXT, told)
    return Piece(at, block["text"])


def _data(at: At, block: dict[str, Any], told: Told) -> Piece:
    _drop_others(at, block, _DATA, told)
    media = Media(_bare(block["mimeType"]), block["data"], "")
    what = "An image" if block["type"] == "image" else "Audio"
    return Piece(at, _in_place_of(what, media), media)


def _link(at: At, block: dict[str, Any], told: Told) -> Piece:
    _drop_others(at, block, _LINK, told)
    told.tell(at, Action.REWRITTEN, "is told as text")
    names = [block[name] for name in ("name", "title") if block.get(name)]
    size = block.get("size")
    facts = [block.get("mimeType"), None if size is None else _bytes(size)]
    known = ", ".join(str(fact) for fact in facts if fact)
    lines = [
        f"Resource {block['uri']}{f' ({known})' if known else ''}: {', '.join(names)}",
        block.get("description") or "",
    ]
    return Piece(at, "\n".join(line for line in lines if line))


def _resource(at: At, block: dict[str, Any], told: Told) -> Piece:
    _drop_others(at, block, _EMBEDDED, told)
    contents = block["resource"]
    inside = (*at, "resource")
    _drop_others(inside, contents, _CONTENTS, told)
    uri, kind = contents["uri"], contents.get("mimeType")
    if "text" in contents:
        told.tell(inside, Action.REWRITTEN, "is told as text, with its URI")
        return Piece(at, f"Resource {uri}{f' ({kind})' if kind else ''}:\n{contents['text']}")
    media = Media(_bare(kind or "application/octet-stream"), contents["blob"], uri)
    return Piece(at, _in_place_of(f"The resource {uri}", media), media)


def _unknown(at: At, block: dict[str, Any], told: Told) -> Piece:
    told.tell(at, Action.DROPPED, "is content of a type that is not known")
    return Piece(at, f"[Content of type {block.get('type')}, which cannot be shown]")


_READERS: Mapping[str, Callable[[At, dict[str, Any], Told], Piece]] = MappingProxyType(
    {
        "text": _text,
        "image": _data,
        "audio": _data,
        "resource_link": _link,
        "resource": _resource,
    }
)


def _bare(mime_type: str) -> str:
    return mime_type.partition(";")[0].strip().lower()


def _in_place_of(what: str, media: Media) -> str:
    size = len(media.data) * 3 // 4 - media.data[-2:].count("=")
    return f"[{what} ({media.mime_type}, {_bytes(max(size, 0))}), which cannot be shown]"


def _bytes(size: float) -> str:
    return "1 byte" if size == 1 else f"{size:,} bytes"
