"""Wrapped values: structured content whose single property holds the value.

Before MCP 2026-07-28 structured content is an object, so other values are wrapped in an object,
and the schema or the result is marked. Without a mark, an object is the value itself, even if it
has a single property ``result``.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from sidecheck.output_schemas import read_field
from sidecheck.pointers import pointer_steps
from sidecheck.validation import ABSENT

__all__ = [
    "RESULT",
    "NoValue",
    "WrapMismatch",
    "is_object_schema",
    "resolve_local",
    "unwrap",
    "wrapped_property",
]

#: The schema keyword of Sidecheck: ``{"field": "result"}``.
MARK: Final = "x-dedalus-box"
#: The schema keyword of FastMCP; its property is always ``result``.
FASTMCP_MARK: Final = "x-fastmcp-wrap-result"
#: The property that holds a wrapped value.
RESULT: Final = "result"

#: Maximum references to follow to find the type of a root.
MAX_REFERENCES: Final = 32


class NoValue(ValueError):
    """A result is an error, or has no structured content."""


class WrapMismatch(ValueError):
    """A schema or result is marked as wrapped, but lacks the property."""


def unwrap(result: Any, *, tool: Any = None, output_schema: Mapping[str, Any] | None = None) -> Any:
    """Return the value of *result*, a ``CallToolResult``, unwrapped if it is marked.

    The mark is in the schema or, in results of FastMCP, in ``_meta``; the form of the content
    does not matter. *tool* is the definition that the server listed; alternatively, pass its
    *output_schema*. Definitions and results are decoded JSON or objects of an SDK.

    Raises:
        NoValue: The result is an error, or has no structured content.
        WrapMismatch: The result or schema is marked, but the property is missing.
    """
    if read_field(result, "isError", "is_error") is True:
        raise NoValue("the result is an error; see its content")
    content = read_field(result, "structuredContent", "structured_content")
    if content is ABSENT:
        raise NoValue("the result has no structured content")
    schema = output_schema
    if schema is None and tool is not None:
        listed_schema = read_field(tool, "outputSchema", "output_schema")
        schema = listed_schema if isinstance(listed_schema, Mapping) else None
    name = wrapped_property(schema) if schema is not None else ""
    if not name and is_marked(result):
        name = RESULT
    if not name:
        return content
    if not isinstance(content, Mapping) or name not in content:
        raise WrapMismatch(
            f"the structured content is marked as wrapped but has no property {name!r}"
        )
    return content[name]


def wrapped_property(output_schema: Mapping[str, Any]) -> str:
    """Return the property that holds the value by the mark of a schema, or "".

    Raises:
        WrapMismatch: The mark names no property of the schema.
    """
    mark = MARK if output_schema.get(MARK) not in (None, False) else FASTMCP_MARK
    if mark == FASTMCP_MARK and not output_schema.get(FASTMCP_MARK):
        return ""
    name: Any = RESULT
    if mark == MARK:
        value = output_schema[MARK]
        name = value.get("field") if isinstance(value, Mapping) else None
    properties = output_schema.get("properties")
    if not isinstance(name, str) or not isinstance(properties, Mapping) or name not in properties:
        raise WrapMismatch(f"the schema is marked with {mark} but has no property {name!r}")
    return name


def is_object_schema(schema: Mapping[str, Any]) -> bool:
    """Return whether the root of *schema* declares that it admits only objects.

    The declaration is a ``type``, directly or through ``allOf`` and up to 32 local references.
    Without it, structured content before MCP 2026-07-28 is wrapped.
    """
    pending: list[Any] = [schema]
    seen: set[int] = set()
    references = 0
    while pending:
        part = pending.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        if part.get("type") in ("object", ["object"]):
            return True
        branches = part.get("allOf")
        pending += branches if isinstance(branches, list) else []
        reference = part.get("$ref")
        if isinstance(reference, str) and references < MAX_REFERENCES:
            references += 1
            pending.append(resolve_local(reference, schema))
    return False


def resolve_local(reference: str, root: Mapping[str, Any]) -> Any:
    """Return the part of *root* at *reference*, a JSON Pointer in a fragment, or None."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    part: Any = root
    for name in pointer_steps(unquote(reference)):
        if isinstance(part, list) and name.isdecimal() and int(name) < len(part):
            part = part[int(name)]
        else:
            part = part.get(name) if isinstance(part, Mapping) else None
    return part


def is_marked(result: Any) -> bool:
    """Return whether the ``_meta`` of *result* has FastMCP's mark."""
    meta = read_field(result, "_meta", "meta")
    fastmcp = meta.get("fastmcp") if isinstance(meta, Mapping) else None
    return isinstance(fastmcp, Mapping) and fastmcp.get("wrap_result") is True
