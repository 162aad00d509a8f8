"""Normalizes tool output to a ``CallToolResult``.

The caller checks the result afterwards.

A text block repeats structured content as JSON: since 2026-07-28 a result MUST have it if the
content is not an object (SEP-2106), otherwise it SHOULD have it if it has no other content
(MCP 2025-06-18, server/tools, "Structured Content").

In the text contract, a result has one text, which describes blocks of other types.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import has_structured_content, requires_object_output
from sidecheck_server.core.mcp.results.check import STRUCTURED_CONTENT
from sidecheck_server.core.mcp.wrapping.markers import without_wrap_marker
from sidecheck_server.core.mcp.wrapping.schemas import AdaptedSchema
from sidecheck_server.core.payload import MalformedError, decode, encode_like

__all__ = [
    "Content",
    "Failure",
    "ToolOutput",
    "Value",
    "WholeResult",
    "normalize_output",
    "text_of",
    "text_result",
]


@dataclass(frozen=True, slots=True)
class Value:
    """Data, as JSON text."""

    json: bytes

    @property
    def size(self) -> int:
        """Length of the text in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class Content:
    """One content block or a list of them, as JSON text."""

    json: bytes

    @property
    def size(self) -> int:
        """Length of the text in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class WholeResult:
    """A whole ``CallToolResult``, as JSON text.

    Its structured content follows the canonical definition of the tool, not the form for a
    protocol version.
    """

    json: bytes

    @property
    def size(self) -> int:
        """Length of the text in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class Failure:
    """Error message of a tool that failed."""

    text: str

    @property
    def size(self) -> int:
        """Length of the text in characters."""
        return len(self.text)


# Decision 0040: the caller names the kind of output; a value is never inspected to guess it.
#: Output of a tool.
ToolOutput: TypeAlias = Value | Content | WholeResult | Failure

_RESULT_TYPE_SINCE = "2026-07-28"
_COMPLETE = "complete"

_MAX_TEXTS_READ = 16
"""Number of text blocks that are compared with the structured content.

If none matches, the result gets another block, which is valid even if it is a repetition.
"""

#: Properties that may be missing but not null. Many serializers write null for unset fields.
_NEVER_NULL = ("_meta", "isError", "resultType")


def text_of(output: ToolOutput) -> bytes:
    """Return the JSON text of *output*, or b"" if it has none."""
    return b"" if isinstance(output, Failure) else output.json


def normalize_output(
    output: ToolOutput, schema: AdaptedSchema | None, version: str, limits: Limits
) -> Any:
    """Return the decoded result for *output*.

    It is an object, unless *output* is a `WholeResult` of another JSON type. *schema* is the
    tool's output schema adapted to *version*, or None. The time is linear in the size of
    *output*.

    Raises:
        MalformedError: *output* is not JSON.
        RequestError: LIMIT_EXCEEDED.
    """
    match output:
        case Value(json):
            return _build_value_result(_decode(json, limits), schema, version, json)
        case Content(json):
            content = _decode(json, limits)
            return _build_result(content if isinstance(content, list) else [content], version)
        case WholeResult(json):
            return _adapt_whole_result(_decode(json, limits), schema, version, limits, json)
        case Failure(text):
            return {**_build_result([_build_text_block(text)], version), "isError": True}


def _decode(text: bytes, limits: Limits) -> Any:
    if len(text) > limits.payload_bytes:
        raise limit_exceeded_error(
            "payload_bytes", limits.payload_bytes, "the tool output", len(text)
        )
    return decode(text, max_depth=limits.payload_depth)


def _build_value_result(
    value: Any, schema: AdaptedSchema | None, version: str, text: bytes
) -> dict[str, Any]:
    if schema is not None:
        structured = {schema.wrapped_property: value} if schema.wrapped_property else value
    elif isinstance(value, str) or value is None or not _may_be_structured(value, version):
        return _build_result(_build_unstructured_content(value, text), version)
    else:
        structured = value
    return {
        **_build_result([_build_text_block(_encode_text(structured, text))], version),
        STRUCTURED_CONTENT: structured,
    }


def _may_be_structured(value: Any, version: str) -> bool:
    """Return whether *value* may be structured content without an output schema."""
    return has_structured_content(version) and (
        isinstance(value, dict) or not requires_object_output(version)
    )


def _build_unstructured_content(value: Any, text: bytes) -> list[Any]:
    """Return the content blocks for *value* in a result without structured content."""
    if value is None:
        return []
    return [_build_text_block(value if isinstance(value, str) else _encode_text(value, text))]


def _adapt_whole_result(
    value: Any, schema: AdaptedSchema | None, version: str, limits: Limits, text: bytes
) -> Any:
    """Return the result *value* in the form for *version* and the adapted *schema*."""
    if not isinstance(value, dict):
        return value
    dropped_nulls: tuple[str, ...] = _NEVER_NULL
    # Where content is wrapped, null is a possible value of the tool.
    may_be_null = schema is not None and schema.wraps_content and value.get("isError") is not True
    if not has_structured_content(version) or (requires_object_output(version) and not may_be_null):
        dropped_nulls = (*dropped_nulls, STRUCTURED_CONTENT)
    result = {k: v for k, v in value.items() if k not in dropped_nulls or v is not None}
    result = _set_type(result, version)
    if STRUCTURED_CONTENT not in result or result.get("resultType", _COMPLETE) != _COMPLETE:
        return result
    canonical = result[STRUCTURED_CONTENT]
    if schema is not None and result.get("isError") is not True:
        _adapt_content(result, schema)
    structured = result[STRUCTURED_CONTENT]
    content = result.setdefault("content", [])
    if isinstance(content, list) and (
        not content
        or not (
            isinstance(canonical, dict) or _has_json_text((canonical, structured), content, limits)
        )
    ):
        result["content"] = [*content, _build_text_block(_encode_text(structured, text))]
    if not has_structured_content(version):
        del result[STRUCTURED_CONTENT]
    return result


def _adapt_content(result: dict[str, Any], schema: AdaptedSchema) -> None:
    """Wrap or unwrap the structured content of *result* to match the adapted *schema*."""
    structured = result[STRUCTURED_CONTENT]
    if schema.unwrapped_property:
        if isinstance(structured, dict) and schema.unwrapped_property in structured:
            result[STRUCTURED_CONTENT] = structured[schema.unwrapped_property]
        meta = result.get("_meta")
        if isinstance(meta, dict):
            result["_meta"] = without_wrap_marker(meta)
            if not result["_meta"]:
                del result["_meta"]
    elif schema.wraps_content or (schema.wrapped_property and not isinstance(structured, dict)):
        result[STRUCTURED_CONTENT] = {schema.wrapped_property: structured}


def _set_type(result: dict[str, Any], version: str) -> dict[str, Any]:
    """Return *result* with ``resultType`` if *version* has it, otherwise without."""
    if version >= _RESULT_TYPE_SINCE:
        return result if "resultType" in result else {"resultType": _COMPLETE, **result}
    if result.get("resultType") == _COMPLETE:
        return {name: value for name, value in result.items() if name != "resultType"}
    return result


def _has_json_text(values: Iterable[Any], content: list[Any], limits: Limits) -> bool:
    """Return whether a text block of *content* is the JSON text of one of *values*."""
    values = tuple(values)
    texts = islice(_list_texts(content), _MAX_TEXTS_READ)
    return any(_is_json_of(text, values, limits) for text in texts)


def _list_texts(content: list[Any]) -> Iterator[str]:
    for block in content:
        if isinstance(block, dict) and block.get("type") == "text":
            text = block.get("text")
            if isinstance(text, str):
                yield text


def _is_json_of(text: str, values: tuple[Any, ...], limits: Limits) -> bool:
    try:
        decoded = decode(text.encode(), max_depth=limits.payload_depth, max_violations=1)
    except (MalformedError, RequestError):
        return False
    return any(json_equal(decoded, value) for value in values)


def _build_result(content: list[Any], version: str) -> dict[str, Any]:
    return _set_type({"content": content}, version)


def _build_text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _encode_text(value: Any, text: bytes) -> str:
    """Return the JSON text of *value*, which was decoded from *text* or a part of it."""
    return encode_like(text, value).decode()


def text_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return the valid *result* in the text contract.

    It has one text block with a line for each content block: the text, or a description of a
    block of another type. Content that already has this form is unchanged.
    """
    is_error, content = result.get("isError", False), result["content"]
    if not _conforms_to_text_contract(result):
        content = [{"type": "text", "text": "\n".join(map(_describe_block, content))}]
    return {"content": content, "isError": is_error}


def _conforms_to_text_contract(result: dict[str, Any]) -> bool:
    """Return whether *result*, apart from its type, conforms to the text contract."""
    return result.keys() - {"resultType"} == {"content", "isError"} and all(
        block.keys() == {"type", "text"} and block["type"] == "text" for block in result["content"]
    )


def _describe_block(block: Mapping[str, Any]) -> str:
    """Return the text of the valid *block*, or a description in brackets."""
    return _DESCRIPTIONS.get(block["type"], _describe_unknown)(block)


def _get_text(block: Mapping[str, Any]) -> str:
    return str(block["text"])


def _describe_media(block: Mapping[str, Any]) -> str:
    noun = "An image" if block["type"] == "image" else "Audio"
    return _format_in_brackets(noun, block["mimeType"], _count_decoded_bytes(block["data"]))


def _describe_link(block: Mapping[str, Any]) -> str:
    name = block.get("title") or block["name"]
    noun = f"The resource {block['uri']}, {name}"
    return _format_in_brackets(noun, block.get("mimeType"), block.get("size"))


def _describe_resource(block: Mapping[str, Any]) -> str:
    contents = block["resource"]
    if "text" in contents:
        return str(contents["text"])
    noun = f"The resource {contents['uri']}"
    return _format_in_brackets(
        noun, contents.get("mimeType"), _count_decoded_bytes(contents["blob"])
    )


def _describe_unknown(block: Mapping[str, Any]) -> str:
    return f"[Content of the type {block['type']}, which is not text]"


_DESCRIPTIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        "text": _get_text,
        "image": _describe_media,
        "audio": _describe_media,
        "resource_link": _describe_link,
        "resource": _describe_resource,
    }
)


def _format_in_brackets(noun: str, media_type: str | None, size: float | None) -> str:
    bytes_ = "" if size is None else f"{size:,} bytes" if size != 1 else "1 byte"
    details = ", ".join(detail for detail in (media_type or "", bytes_) if detail)
    return f"[{noun}{f' ({details})' if details else ''}, which is not text]"


def _count_decoded_bytes(data: str) -> int:
    """Return the number of bytes that the base64 text *data* encodes."""
    return max(len(data) * 3 // 4 - data[-2:].count("="), 0)
