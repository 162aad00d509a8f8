"""Content blocks in words, for results that have nothing but text."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["text_of"]


def text_of(block: Mapping[str, Any]) -> str:
    """Return the text of *block*, a valid one, or a line in brackets that names it."""
    return _READERS.get(block["type"], _unknown)(block)


def _text(block: Mapping[str, Any]) -> str:
    return str(block["text"])


def _data(block: Mapping[str, Any]) -> str:
    what = "An image" if block["type"] == "image" else "Audio"
    return _named(what, block["mimeType"], _size_of(block["data"]))


def _link(block: Mapping[str, Any]) -> str:
    name = block.get("title") or block["name"]
    return _named(f"The resource {block['uri']}, {name}", block.get("mimeType"), block.get("size"))


def _resource(block: Mapping[str, Any]) -> str:
    contents = block["resource"]
    if "text" in contents:
        return str(contents["text"])
    what = f"The resource {contents['uri']}"
    return _named(what, contents.get("mimeType"), _size_of(contents["blob"]))


def _unknown(block: Mapping[str, Any]) -> str:
    return f"[Content of the type {block['type']}, which is not text]"


_READERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        "text": _text,
        "image": _data,
        "audio": _data,
        "resource_link": _link,
        "resource": _resource,
    }
)


def _named(what: str, kind: str | None, size: float | None) -> str:
    facts = [kind or "", "" if size is None else f"{size:,} bytes" if size != 1 else "1 byte"]
    known = ", ".join(fact for fact in facts if fact)
    return f"[{what}{f' ({known})' if known else ''}, which is not text]"


def _size_of(data: str) -> int:
    """Return how many bytes the Base64 text *data* stands for."""
    return max(len(data) * 3 // 4 - data[-2:].count("="), 0)
