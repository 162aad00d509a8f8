"""The text profile of results: one text, in which other content is described."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["text_result"]


def text_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return the valid *result* in the text profile.

    It has one text with a line for each content block; blocks that are not text are
    described. A result that already has the profile, apart from its type, is unchanged.
    """
    is_error, content = result.get("isError", False), result["content"]
    if not _has_text_profile(result):
        content = [{"type": "text", "text": "\n".join(map(_describe_block, content))}]
    return {"content": content, "isError": is_error}


def _has_text_profile(result: dict[str, Any]) -> bool:
    """Return whether *result*, apart from its type, has the text profile."""
    return result.keys() - {"resultType"} == {"content", "isError"} and all(
        block.keys() == {"type", "text"} and block["type"] == "text" for block in result["content"]
    )


def _describe_block(block: Mapping[str, Any]) -> str:
    """Return the text of the valid *block*, or a description in brackets."""
    return _DESCRIPTIONS.get(block["type"], _describe_unknown)(block)


def _text_of(block: Mapping[str, Any]) -> str:
    return str(block["text"])


def _describe_media(block: Mapping[str, Any]) -> str:
    noun = "An image" if block["type"] == "image" else "Audio"
    return _in_brackets(noun, block["mimeType"], _decoded_size(block["data"]))


def _describe_link(block: Mapping[str, Any]) -> str:
    name = block.get("title") or block["name"]
    noun = f"The resource {block['uri']}, {name}"
    return _in_brackets(noun, block.get("mimeType"), block.get("size"))


def _describe_resource(block: Mapping[str, Any]) -> str:
    contents = block["resource"]
    if "text" in contents:
        return str(contents["text"])
    noun = f"The resource {contents['uri']}"
    return _in_brackets(noun, contents.get("mimeType"), _decoded_size(contents["blob"]))


def _describe_unknown(block: Mapping[str, Any]) -> str:
    return f"[Content of the type {block['type']}, which is not text]"


_DESCRIPTIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        "text": _text_of,
        "image": _describe_media,
        "audio": _describe_media,
        "resource_link": _describe_link,
        "resource": _describe_resource,
    }
)


def _in_brackets(noun: str, media_type: str | None, size: float | None) -> str:
    bytes_ = "" if size is None else f"{size:,} bytes" if size != 1 else "1 byte"
    facts = ", ".join(fact for fact in (media_type or "", bytes_) if fact)
    return f"[{noun}{f' ({facts})' if facts else ''}, which is not text]"


def _decoded_size(data: str) -> int:
    """Return the number of bytes that the base64 text *data* encodes."""
    return max(len(data) * 3 // 4 - data[-2:].count("="), 0)
