"""Boxes: structured content that holds a value as its one member.

Until MCP 2025-11-25 structured content is an object, so whoever returns something else puts
it in a box, and marks the box. Without a mark an object is what it seems to be, even one
with a single member ``result``.
"""

from collections.abc import Mapping
from typing import Any, Final

from sidecheck.items import ABSENT
from sidecheck.tool_results import member

__all__ = ["BoxMismatch", "NoValue", "box_of", "unbox"]

#: The mark of Sidecheck and others: ``{"field": "result"}``.
MARK: Final = "x-dedalus-box"
#: FastMCP's mark in a schema; the member is always ``result``.
FASTMCP_MARK: Final = "x-fastmcp-wrap-result"
RESULT: Final = "result"


class NoValue(ValueError):
    """A result has no structured content that could be a value, or is an error."""


class BoxMismatch(ValueError):
    """What is marked as a box is none; the message says why."""


def box_of(output_schema: Mapping[str, Any]) -> str:
    """Return the member that is the value, by the mark of *output_schema*; "" if it has none.

    Raises:
        BoxMismatch: The mark names no member, or one that the schema has not.
    """
    mark = MARK if output_schema.get(MARK) not in (None, False) else FASTMCP_MARK
    if mark == FASTMCP_MARK and not output_schema.get(FASTMCP_MARK):
        return ""
    field: Any = RESULT
    if mark == MARK:
        said = output_schema[MARK]
        field = said.get("field") if isinstance(said, Mapping) else None
    properties = output_schema.get("properties")
    if not isinstance(field, str) or not isinstance(properties, Mapping) or field not in properties:
        raise BoxMismatch(f"the schema is marked with {mark}, and has no such member: {field!r}")
    return field


def unbox(result: Any, *, tool: Any = None, output_schema: Mapping[str, Any] | None = None) -> Any:
    """Return the value that *result*, a ``CallToolResult``, tells: out of its box, if it has one.

    What says so is the mark of the schema or, in results of FastMCP, one in ``_meta``; never
    the form of the content. *tool* is the definition that the server listed, or give its
    *output_schema*. Both, and results, are decoded JSON or objects of an SDK.

    Raises:
        NoValue: The result is an error, or has no structured content.
        BoxMismatch: It is marked, and has no such member.
    """
    if member(result, "isError", "is_error") is True:
        raise NoValue("the result is an error: the tool failed, and its content says why")
    content = member(result, "structuredContent", "structured_content")
    if content is ABSENT:
        raise NoValue("the result has no structured content; its content is for people and models")
    schema = output_schema
    if schema is None and tool is not None:
        found = member(tool, "outputSchema", "output_schema")
        schema = found if isinstance(found, Mapping) else None
    field = box_of(schema) if schema is not None else ""
    if not field and _says_box(result):
        field = RESULT
    if not field:
        return content
    if not isinstance(content, Mapping) or field not in content:
        raise BoxMismatch(f"the structured content is marked as a box, and has no member {field!r}")
    return content[field]


def _says_box(result: Any) -> bool:
    """Return whether FastMCP's mark stands in the ``_meta`` of *result*."""
    meta = member(result, "_meta", "meta")
    of_fastmcp = meta.get("fastmcp") if isinstance(meta, Mapping) else None
    return isinstance(of_fastmcp, Mapping) and of_fastmcp.get("wrap_result") is True
