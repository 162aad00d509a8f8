"""Results of tools as a ``CallToolResult`` of a protocol version.

The service returns the same results for the same values; tests compare both. Structured content
is repeated as JSON in a text block: since 2026-07-28 a result MUST do so if the content is not an
object (SEP-2106), and otherwise it SHOULD if it has no other content (MCP 2025-06-18,
server/tools, "Structured Content").
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from sidecheck.wrapping import RESULT, is_object_schema, wrapped_property

__all__ = [
    "DEFAULT_VERSION",
    "STRUCTURED_CONTENT",
    "VERSIONS",
    "content_result",
    "has_structured_content",
    "json_text",
    "text_block",
    "value_result",
    "whole_result",
    "wrapping_of",
]

#: Protocol versions, oldest first. They are dates and sort as text.
VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
#: Default of the protocol version, equal to the service's default.
DEFAULT_VERSION: Final = "2025-11-25"

_STRUCTURED_CONTENT_SINCE: Final = "2025-06-18"
_ANY_OUTPUT_TYPE_SINCE: Final = "2026-07-28"  # SEP-2106
_RESULT_TYPE_SINCE: Final = "2026-07-28"

#: Property of results that the output schema describes.
STRUCTURED_CONTENT: Final = "structuredContent"


def has_structured_content(version: str) -> bool:
    """Return whether *version* has output schemas and structured content."""
    return version >= _STRUCTURED_CONTENT_SINCE


def wrapping_of(output_schema: Mapping[str, Any], version: str) -> str:
    """Return the property that holds the values of a tool, or "".

    Before 2026-07-28 values are wrapped in an object unless the schema admits only objects. ""
    means that they are not wrapped.
    """
    if version >= _ANY_OUTPUT_TYPE_SINCE:
        return ""
    return wrapped_property(output_schema) or ("" if is_object_schema(output_schema) else RESULT)


def _wrap(value: Any, output_schema: Mapping[str, Any], version: str) -> Any:
    name = wrapping_of(output_schema, version)
    return {name: value} if name else value


def value_result(
    value: Any, output_schema: Mapping[str, Any] | None, version: str
) -> dict[str, Any]:
    """Return the result of a tool that returned *value*, decoded JSON."""
    if output_schema is not None and has_structured_content(version):
        structured = _wrap(value, output_schema, version)
    elif isinstance(value, str) or value is None or not _may_be_structured(value, version):
        texts = [] if value is None else [value if isinstance(value, str) else json_text(value)]
        return content_result([text_block(text) for text in texts], version)
    else:
        structured = value
    result = content_result([text_block(json_text(structured))], version)
    return {**result, STRUCTURED_CONTENT: structured}


def _may_be_structured(value: Any, version: str) -> bool:
    return has_structured_content(version) and (
        isinstance(value, dict) or version >= _ANY_OUTPUT_TYPE_SINCE
    )


def content_result(
    content: list[dict[str, Any]], version: str, *, is_error: bool = False
) -> dict[str, Any]:
    """Return the result with the content blocks *content*."""
    result: dict[str, Any] = {"content": content}
    if is_error:
        result["isError"] = True
    return {"resultType": "complete", **result} if version >= _RESULT_TYPE_SINCE else result


def whole_result(
    result: dict[str, Any], output_schema: Mapping[str, Any] | None, version: str
) -> dict[str, Any]:
    """Return *result*, a decoded ``CallToolResult``, completed for *version*.

    The structured content of *result* has the form of the canonical output schema.
    """
    completed = dict(result)
    if version >= _RESULT_TYPE_SINCE:
        completed = {"resultType": "complete", **completed}
    elif completed.get("resultType") == "complete":
        del completed["resultType"]
    if STRUCTURED_CONTENT not in completed or completed.get("resultType", "complete") != "complete":
        return completed
    value = structured = completed[STRUCTURED_CONTENT]
    if (
        output_schema is not None
        and completed.get("isError") is not True
        and has_structured_content(version)
    ):
        structured = completed[STRUCTURED_CONTENT] = _adapt(value, output_schema, version)
    content = completed.setdefault("content", [])
    if not content or not (isinstance(value, dict) or _is_repeated((value, structured), content)):
        completed["content"] = [*content, text_block(json_text(structured))]
    if not has_structured_content(version):
        del completed[STRUCTURED_CONTENT]
    return completed


def _adapt(structured: Any, output_schema: Mapping[str, Any], version: str) -> Any:
    """Convert structured content from the definition's form to that of *version*."""
    name = wrapped_property(output_schema)
    if not name:
        return _wrap(structured, output_schema, version)
    is_unwrapped = version >= _ANY_OUTPUT_TYPE_SINCE
    if is_unwrapped and isinstance(structured, dict) and name in structured:
        return structured[name]
    return structured


def _is_repeated(values: tuple[Any, ...], content: list[Any]) -> bool:
    """Return whether a text block is the JSON of one of *values*."""
    texts = {json_text(value) for value in values}
    for block in content:
        if block.get("type") == "text":
            try:
                if json_text(json.loads(block["text"])) in texts:
                    return True
            except ValueError:
                continue
    return False


def text_block(text: str) -> dict[str, Any]:
    """Return the content block with *text*."""
    return {"type": "text", "text": text}


def json_text(value: Any) -> str:
    """Return decoded JSON as compact text, with numbers as the service writes them.

    Raises:
        RecursionError: *value* is nested too deeply.
    """
    match value:
        case dict():
            items = (f"{_dump(name)}:{json_text(item)}" for name, item in value.items())
            return f"{{{','.join(items)}}}"
        case list():
            return f"[{','.join(map(json_text, value))}]"
        case float():
            return _float_text(value)
        case _:
            return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _float_text(value: float) -> str:
    """Return the shortest text of a double, in the notation of the service."""
    mantissa, _, power = float.__repr__(value).partition("e")
    if not power:
        return mantissa
    exponent = int(power)
    if exponent < _MIN_EXPONENT or exponent > 0:
        return f"{mantissa}e{exponent}"
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "")
    return f"{sign}0.{'0' * (-exponent - 1)}{digits}"


_MIN_EXPONENT: Final = -5
