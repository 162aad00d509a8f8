"""Content of a tool result as a list of parts: texts, and media with a textual fallback."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck_server.core.convert.providers.provider import Media
from sidecheck_server.core.convert.types import Action, Effect, Loss
from sidecheck_server.core.types import as_pointer

__all__ = ["ContentPart", "ResultLosses", "split_content"]

_MAX_LOSSES = 1000

_Path: TypeAlias = tuple[str | int, ...]


class ResultLosses:
    """Losses of one result: at most 1,000, and the number of further ones."""

    def __init__(self) -> None:
        self._losses: list[Loss] = []
        self._omitted = 0

    def add(self, path: _Path, action: Action, message: str) -> None:
        """Record a loss at *path* of the result.

        The effect is always EQUIVALENT: a result admits no payloads.
        """
        if len(self._losses) >= _MAX_LOSSES:
            self._omitted += 1
            return
        self._losses.append(Loss(as_pointer(path), "", action, Effect.EQUIVALENT, message))

    def ordered(self) -> tuple[Loss, ...]:
        """Return the losses ordered by location."""
        losses = sorted(self._losses, key=lambda loss: (loss.pointer, loss.message))
        if self._omitted:
            message = f"{self._omitted:,} more losses are not listed"
            losses.insert(0, Loss("", "", Action.DROPPED, Effect.EQUIVALENT, message))
        return tuple(losses)


@dataclass(frozen=True, slots=True)
class ContentPart:
    """Text, or media."""

    path: _Path
    #: The text; for media, the fallback where the provider does not accept that type.
    text: str
    media: Media | None = None


def split_content(content: list[Any], losses: ResultLosses) -> list[ContentPart]:
    """Return the blocks of valid *content* in order, without blank texts."""
    parts = []
    for index, block in enumerate(content):
        path: _Path = ("content", index)
        part = _READERS.get(str(block.get("type")), _unknown)(path, block, losses)
        # Anthropic's API and Bedrock's reject a message with a blank text.
        if part.text.strip():
            parts.append(part)
        else:
            losses.add(path, Action.DROPPED, "blank text, which some providers reject")
    return parts


def _drop_others(
    path: _Path, value: Mapping[str, Any], kept: frozenset[str], losses: ResultLosses
) -> None:
    for name in value:
        if name not in kept:
            losses.add((*path, name), Action.DROPPED, "not sent to the model")


_TEXT = frozenset({"type", "text"})
_DATA = frozenset({"type", "data", "mimeType"})
_LINK = frozenset({"type", "name", "title", "uri", "mimeType", "size", "description"})
_EMBEDDED = frozenset({"type", "resource"})
_CONTENTS = frozenset({"uri", "mimeType", "text", "blob"})


def _text(path: _Path, block: dict[str, Any], losses: ResultLosses) -> ContentPart:
    _drop_others(path, block, _TEXT, losses)
    return ContentPart(path, block["text"])


def _data(path: _Path, block: dict[str, Any], losses: ResultLosses) -> ContentPart:
    _drop_others(path, block, _DATA, losses)
    media = Media(_bare_type(block["mimeType"]), block["data"], "")
    noun = "An image" if block["type"] == "image" else "Audio"
    return ContentPart(path, _fallback(noun, media), media)


def _link(path: _Path, block: dict[str, Any], losses: ResultLosses) -> ContentPart:
    _drop_others(path, block, _LINK, losses)
    losses.add(path, Action.REWRITTEN, "sent as text")
    names = [block[name] for name in ("name", "title") if block.get(name)]
    size = block.get("size")
    facts = [block.get("mimeType"), None if size is None else _count_bytes(size)]
    known = ", ".join(str(fact) for fact in facts if fact)
    lines = [
        f"Resource {block['uri']}{f' ({known})' if known else ''}: {', '.join(names)}",
        block.get("description") or "",
    ]
    return ContentPart(path, "\n".join(line for line in lines if line))


def _resource(path: _Path, block: dict[str, Any], losses: ResultLosses) -> ContentPart:
    _drop_others(path, block, _EMBEDDED, losses)
    contents = block["resource"]
    contents_path = (*path, "resource")
    _drop_others(contents_path, contents, _CONTENTS, losses)
    uri, mime_type = contents["uri"], contents.get("mimeType")
    if "text" in contents:
        losses.add(contents_path, Action.REWRITTEN, "sent as text, with its URI")
        heading = f"Resource {uri}{f' ({mime_type})' if mime_type else ''}"
        return ContentPart(path, f"{heading}:\n{contents['text']}")
    media = Media(_bare_type(mime_type or "application/octet-stream"), contents["blob"], uri)
    return ContentPart(path, _fallback(f"The resource {uri}", media), media)


def _unknown(path: _Path, block: dict[str, Any], losses: ResultLosses) -> ContentPart:
    losses.add(path, Action.DROPPED, "content of an unknown type")
    return ContentPart(path, f"[Content of type {block.get('type')}, which cannot be shown]")


_READERS: Mapping[str, Callable[[_Path, dict[str, Any], ResultLosses], ContentPart]] = (
    MappingProxyType(
        {
            "text": _text,
            "image": _data,
            "audio": _data,
            "resource_link": _link,
            "resource": _resource,
        }
    )
)


def _bare_type(mime_type: str) -> str:
    return mime_type.partition(";")[0].strip().lower()


def _fallback(noun: str, media: Media) -> str:
    size = len(media.data) * 3 // 4 - media.data[-2:].count("=")
    return f"[{noun} ({media.mime_type}, {_count_bytes(max(size, 0))}), which cannot be shown]"


def _count_bytes(size: float) -> str:
    return "1 byte" if size == 1 else f"{size:,} bytes"
