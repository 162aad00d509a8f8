"""Content blocks of results, and their text in the text contract."""

from collections.abc import Callable, Container, Mapping
from typing import Any, Final

__all__ = [
    "describe_block",
    "dump_content",
    "dump_whole_result",
    "is_content_helper",
    "is_known_block",
]

#: Classes of SDKs whose objects are content blocks.
_BLOCK_CLASSES: Final = frozenset(
    {"AudioContent", "EmbeddedResource", "ImageContent", "ResourceLink", "TextContent"}
)
#: Packages of MCP SDKs, and the methods that make content blocks of their helpers, by class.
_SDK_PACKAGES: Final = frozenset({"fastmcp", "mcp"})
_CONVERSIONS: Final[Mapping[str, str]] = {
    "Audio": "to_audio_content",
    "File": "to_resource_content",
    "Image": "to_image_content",
}
#: The first protocol version of each type of block.
_TYPES_SINCE: Final[Mapping[str, str]] = {
    "text": "2024-11-05",
    "image": "2024-11-05",
    "resource": "2024-11-05",
    "audio": "2025-03-26",
    "resource_link": "2025-06-18",
}


def dump_whole_result(value: Any, module: str) -> dict[str, Any] | None:
    """Return an SDK's ``CallToolResult`` as JSON, or None for other values.

    An object of a class with that name in *module*, the module of the tool, is data.
    """
    return _dump(value) if _is_model(value, {"CallToolResult"}, module) else None


# Decision 0040: a return value is data, even if it looks like content.
def dump_content(value: Any, module: str) -> list[dict[str, Any]] | None:
    """Return content blocks of an SDK, one or a list, as JSON; None for other values.

    Helpers of SDKs, such as ``Image``, become blocks, and so do the texts in a list with one.
    The class decides, never the form of a value: a dictionary is data. An object of a class in
    *module*, the module of the tool, is data as well.
    """
    items = value if isinstance(value, list | tuple) else [value]
    has_helper = any(_is_helper(item, module) for item in items)
    blocks: list[dict[str, Any]] = []
    for item in items:
        if _is_model(item, _BLOCK_CLASSES, module):
            blocks.append(_dump(item))
        elif _is_helper(item, module):
            blocks.append(_dump(getattr(item, _CONVERSIONS[type(item).__name__])()))
        elif has_helper and isinstance(item, str):
            blocks.append({"type": "text", "text": item})
        else:
            return None
    return blocks or None


def is_content_helper(cls: Any) -> bool:
    """Return whether *cls* is a class of an SDK whose objects stand for content."""
    name, module = getattr(cls, "__name__", ""), getattr(cls, "__module__", None)
    return (
        (name in _CONVERSIONS or name == "ToolResult")
        and isinstance(module, str)
        and not _SDK_PACKAGES.isdisjoint(module.split("."))
    )


def _is_helper(value: Any, module: str) -> bool:
    cls = type(value)
    return (
        cls.__module__ != module
        and is_content_helper(cls)
        and hasattr(cls, _CONVERSIONS.get(cls.__name__, ""))
    )


def _is_model(value: Any, names: Container[str], module: str) -> bool:
    cls = type(value)
    return cls.__name__ in names and cls.__module__ != module and hasattr(cls, "model_dump")


def _dump(value: Any) -> dict[str, Any]:
    # The protocol does not represent an absent property by null.
    dumped: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def is_known_block(block: Mapping[str, Any], version: str) -> bool:
    """Return whether *version* has the type of *block*."""
    since = _TYPES_SINCE.get(block.get("type", ""))
    return since is not None and since <= version


def describe_block(block: Mapping[str, Any]) -> str:
    """Return the text of *block*, or a description in brackets."""
    return _DESCRIPTIONS[block["type"]](block)


def _text_of(block: Mapping[str, Any]) -> str:
    return str(block["text"])


def _describe_media(block: Mapping[str, Any]) -> str:
    noun = "An image" if block["type"] == "image" else "Audio"
    return _in_brackets(noun, block["mimeType"], _decoded_size(block["data"]))


def _describe_link(block: Mapping[str, Any]) -> str:
    name = block.get("title") or block["name"]
    return _in_brackets(
        f"The resource {block['uri']}, {name}", block.get("mimeType"), block.get("size")
    )


def _describe_resource(block: Mapping[str, Any]) -> str:
    contents = block["resource"]
    if "text" in contents:
        return str(contents["text"])
    noun = f"The resource {contents['uri']}"
    return _in_brackets(noun, contents.get("mimeType"), _decoded_size(contents["blob"]))


_DESCRIPTIONS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "text": _text_of,
    "image": _describe_media,
    "audio": _describe_media,
    "resource_link": _describe_link,
    "resource": _describe_resource,
}


def _in_brackets(noun: str, media_type: str | None, size: float | None) -> str:
    bytes_ = "" if size is None else f"{size:,} bytes" if size != 1 else "1 byte"
    facts = ", ".join(fact for fact in (media_type or "", bytes_) if fact)
    return f"[{noun}{f' ({facts})' if facts else ''}, which is not text]"


def _decoded_size(data: str) -> int:
    """Return the number of bytes that the base64 text *data* encodes."""
    return max(len(data) * 3 // 4 - data[-2:].count("="), 0)
