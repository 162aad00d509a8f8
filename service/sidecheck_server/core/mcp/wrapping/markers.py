"""Markers of wrapped output schemas: keywords that name the wrapped property.

A schema without a marker is never unwrapped, since its author may have intended an object
with the one property ``result``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.tools import WRAP_MARKER_MISMATCH

__all__ = [
    "WRAPPED_PROPERTY",
    "WRAP_KEYWORD",
    "marker_fault",
    "without_wrap_marker",
    "wrapped_property_of",
]

WRAP_KEYWORD = "x-dedalus-box"
"""Keyword of schemas that Sidecheck wraps; its value is ``{"field": "result"}``."""

WRAPPED_PROPERTY = "result"
"""Property with the value in schemas that Sidecheck wraps."""

_FASTMCP_KEYWORD = "x-fastmcp-wrap-result"
"""FastMCP's keyword; the property is always ``result`` (fastmcp 4.1.2, tools/base.py)."""

_FASTMCP_META = "wrap_result"
"""FastMCP's marker of a result, in ``_meta.fastmcp`` (fastmcp 4.1.2, tools/base.py)."""

_WRAPPER_KEYWORDS = frozenset({"$schema", "type", "properties", "required", "additionalProperties"})
_ALLOWED_KEYWORDS = _WRAPPER_KEYWORDS | {
    "$defs",
    "definitions",
    "title",
    "description",
    "$comment",
    WRAP_KEYWORD,
    _FASTMCP_KEYWORD,
}


def wrapped_property_of(schema: Mapping[str, Any]) -> str:
    """Return the property with the value if *schema* is marked as wrapped, or "".

    Raises:
        RequestError: INVALID_TOOL if the marker contradicts the schema.
    """
    fault = marker_fault(schema)
    if fault is not None:
        raise _build_error(fault)
    return _read_marker(schema)[1]


def marker_fault(schema: Mapping[str, Any]) -> Fault | None:
    """Return the fault if the marker of *schema* contradicts it, or None.

    A marked schema is an object with the named property and no other.
    """
    keyword, name = _read_marker(schema)
    if not keyword:
        return None
    for fault in _describe_faults(schema, name):
        message = f"the output schema is marked as wrapped and is not: {fault}"
        return Fault((keyword,), message)
    return None


def _read_marker(schema: Mapping[str, Any]) -> tuple[str, str]:
    """Return the keyword that marks *schema* as wrapped, and the property in it."""
    marker = schema.get(WRAP_KEYWORD)
    if marker not in (None, False):
        name = marker.get("field") if isinstance(marker, dict) else None
        return WRAP_KEYWORD, name if isinstance(name, str) else ""
    return (_FASTMCP_KEYWORD, WRAPPED_PROPERTY) if schema.get(_FASTMCP_KEYWORD) else ("", "")


def _describe_faults(schema: Mapping[str, Any], name: str) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required", [])
    if not name:
        yield 'the marker names no property; expected an object such as {"field": "result"}'
    elif not isinstance(properties, dict) or name not in properties:
        yield f"the marker names the property {name[:80]!r}, which properties does not define"
    elif len(properties) > 1:
        yield "a wrapped schema has one property, and this one has several"
    elif not isinstance(required, list) or any(property_ != name for property_ in required):
        yield "a wrapped schema requires no property but the wrapped one"
    if schema.get("type", "object") != "object":
        yield 'a wrapped schema has the type "object", and this one has another'
    for keyword in schema:
        if keyword not in _ALLOWED_KEYWORDS and not keyword.startswith("x-"):
            yield f"a wrapped schema has no {keyword[:80]}; it belongs to the wrapped property"


def _build_error(fault: Fault) -> RequestError:
    violation = WRAP_MARKER_MISMATCH.violation(fault, DEFAULT_VERSION, ("outputSchema",))
    metadata = {"code": violation.code, "pointer": violation.instance_location}
    return RequestError(ErrorReason.INVALID_TOOL, fault.message, metadata, (violation,))


def without_wrap_marker(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``_meta`` of a result without the marker of wrapped content."""
    fastmcp = meta.get("fastmcp")
    if not isinstance(fastmcp, dict) or _FASTMCP_META not in fastmcp:
        return dict(meta)
    fastmcp_rest = {name: value for name, value in fastmcp.items() if name != _FASTMCP_META}
    rest = {name: value for name, value in meta.items() if name != "fastmcp"}
    return {**rest, "fastmcp": fastmcp_rest} if fastmcp_rest else rest
