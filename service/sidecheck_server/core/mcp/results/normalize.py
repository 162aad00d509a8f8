"""From what a tool returned to a result. What is wrong with it is for the check that comes last.

Structured content has its JSON in a text beside it: since 2026-07-28 it must, where it is no
object (SEP-2106), and it should, where nothing else is told (MCP 2025-06-18, server/tools,
"Structured Content").
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.calls.results import (
    STRUCTURED_CONTENT,
    has_structured_content,
    objects_only,
)
from sidecheck_server.core.mcp.results.naming import text_of
from sidecheck_server.core.mcp.results.returned import (
    Content,
    Failure,
    Returned,
    Value,
    Whole,
)
from sidecheck_server.core.mcp.wrapping.marks import without_marks
from sidecheck_server.core.mcp.wrapping.schemas import AdaptedSchema
from sidecheck_server.core.payload import MalformedError, decode

__all__ = ["normalized", "text_result"]

_RESULT_TYPE_SINCE = "2026-07-28"
_COMPLETE = "complete"

_READ = 16
"""How many texts are read that may hold the structured content; it is no loss to say it twice."""

#: Members that may be missing and not null; who writes them from an object of its language
#: writes null for what is not set.
_NEVER_NULL = ("_meta", "isError", "resultType")


def normalized(
    returned: Returned, output: AdaptedSchema | None, version: str, limits: Limits
) -> Any:
    """Return the result that says *returned*, decoded: an object, unless a whole is none.

    *output* is the tool's output schema in its form for *version*, if there is one. Time is
    linear in the size of *returned*.

    Raises:
        MalformedError: what was returned is not JSON.
        Refusal: LIMIT_EXCEEDED.
    """
    match returned:
        case Value(json):
            return _of_value(_decoded(json, limits), output, version)
        case Content(json):
            content = _decoded(json, limits)
            return _result(content if isinstance(content, list) else [content], version)
        case Whole(json):
            return _of_whole(_decoded(json, limits), output, version, limits)
        case Failure(text):
            return {**_result([_text(text)], version), "isError": True}


def text_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return *result*, a valid one, in the text contract.

    It has one text, the blocks of the content below each other; what is no text is named. A
    result that keeps the contract already, but for its type, stays as it is.
    """
    failed, content = result.get("isError", False), result["content"]
    if not _keeps_text_contract(result):
        content = [_text("\n".join(text_of(block) for block in content))]
    return {"content": content, "isError": failed}


def _keeps_text_contract(result: dict[str, Any]) -> bool:
    """Return whether *result*, but for its type, keeps the text contract."""
    return result.keys() - {"resultType"} == {"content", "isError"} and all(
        block.keys() == {"type", "text"} and block["type"] == "text" for block in result["content"]
    )


def _decoded(text: bytes, limits: Limits) -> Any:
    if len(text) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, "what was returned", len(text))
    return decode(text, max_depth=limits.payload_depth)


def _of_value(value: Any, output: AdaptedSchema | None, version: str) -> dict[str, Any]:
    if output is not None:
        structured = {output.box: value} if output.box else value
    elif isinstance(value, str) or value is None or not _may_be_structured(value, version):
        return _result(_said(value), version)
    else:
        structured = value
    return {**_result([_text(_json(structured))], version), STRUCTURED_CONTENT: structured}


def _may_be_structured(value: Any, version: str) -> bool:
    """Return whether *value* may be structured content without an output schema."""
    return has_structured_content(version) and (
        isinstance(value, dict) or not objects_only(version)
    )


def _said(value: Any) -> list[Any]:
    """Return the content that says *value* where nothing structured does."""
    if value is None:
        return []
    return [_text(value if isinstance(value, str) else _json(value))]


def _of_whole(value: Any, output: AdaptedSchema | None, version: str, limits: Limits) -> Any:
    if not isinstance(value, dict):
        return value
    absent: tuple[str, ...] = _NEVER_NULL
    if objects_only(version) or not has_structured_content(version):
        absent = (*absent, STRUCTURED_CONTENT)
    result = {k: v for k, v in value.items() if k not in absent or v is not None}
    result = _typed(result, version)
    if STRUCTURED_CONTENT not in result or result.get("resultType", _COMPLETE) != _COMPLETE:
        return result
    natural = result[STRUCTURED_CONTENT]
    if output is not None and result.get("isError") is not True:
        _restructure(result, output)
    structured = result[STRUCTURED_CONTENT]
    content = result.setdefault("content", [])
    if isinstance(content, list) and (
        not content
        or not (isinstance(natural, dict) or _is_told((natural, structured), content, limits))
    ):
        result["content"] = [*content, _text(_json(structured))]
    if not has_structured_content(version):
        del result[STRUCTURED_CONTENT]
    return result


def _restructure(result: dict[str, Any], output: AdaptedSchema) -> None:
    """Give the structured content of *result*, that of the definition, the form of *output*."""
    structured = result[STRUCTURED_CONTENT]
    if output.taken_out_of:
        if isinstance(structured, dict) and output.taken_out_of in structured:
            result[STRUCTURED_CONTENT] = structured[output.taken_out_of]
        meta = result.get("_meta")
        if isinstance(meta, dict):
            result["_meta"] = without_marks(meta)
            if not result["_meta"]:
                del result["_meta"]
    elif output.box and not output.boxed_before:
        result[STRUCTURED_CONTENT] = {output.box: structured}


def _typed(result: dict[str, Any], version: str) -> dict[str, Any]:
    """Return *result* with the type that *version* wants, or without one that it has not."""
    if version >= _RESULT_TYPE_SINCE:
        return result if "resultType" in result else {"resultType": _COMPLETE, **result}
    if result.get("resultType") == _COMPLETE:
        return {name: value for name, value in result.items() if name != "resultType"}
    return result


def _is_told(values: Iterable[Any], content: list[Any], limits: Limits) -> bool:
    """Return whether a text of *content* is the JSON of one of *values*."""
    values = tuple(values)
    texts = islice(_texts(content), _READ)
    return any(_says(text, values, limits) for text in texts)


def _texts(content: list[Any]) -> Iterator[str]:
    for block in content:
        if isinstance(block, dict) and block.get("type") == "text":
            text = block.get("text")
            if isinstance(text, str):
                yield text


def _says(text: str, values: tuple[Any, ...], limits: Limits) -> bool:
    try:
        found = decode(text.encode(), max_depth=limits.payload_depth, most=1)
    except (MalformedError, RequestError):
        return False
    return any(json_equal(found, value) for value in values)


def _result(content: list[Any], version: str) -> dict[str, Any]:
    return _typed({"content": content}, version)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
