"""Markers of wrapped output schemas: the keyword that names the property with the value.

A schema without a marker is never unwrapped: an object with one property ``result`` may be
what its author intended.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.types import Violation

__all__ = ["WRAPPED_PROPERTY", "WRAP_KEYWORD", "without_wrap_marker", "wrapped_property_of"]

WRAP_KEYWORD = "x-dedalus-box"
"""Keyword of schemas wrapped here; it names the property: ``{"field": "result"}``."""

WRAPPED_PROPERTY = "result"
"""Property with the value in schemas wrapped here."""

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
        RequestError: INVALID_TOOL if it is marked but is not an object with that property
            and nothing else.
    """
    keyword = WRAP_KEYWORD if schema.get(WRAP_KEYWORD) not in (None, False) else _FASTMCP_KEYWORD
    if keyword == _FASTMCP_KEYWORD and not schema.get(_FASTMCP_KEYWORD):
        return ""
    name: Any = WRAPPED_PROPERTY
    if keyword == WRAP_KEYWORD:
        marker = schema[WRAP_KEYWORD]
        name = marker.get("field") if isinstance(marker, dict) else None
        if not isinstance(name, str) or not name:
            fault = 'the marker names no property; expected an object such as {"field": "result"}'
            raise _mismatch(keyword, fault)
    for fault in _faults(schema, name):
        raise _mismatch(keyword, fault)
    return str(name)


def _faults(schema: Mapping[str, Any], name: str) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict) or name not in properties:
        yield f"the marker names the property {name[:80]!r}, which properties does not define"
    elif len(properties) > 1:
        yield "a wrapped schema has one property, and this one has several"
    elif not isinstance(required, list) or any(other != name for other in required):
        yield "a wrapped schema requires no property but the wrapped one"
    if schema.get("type", "object") != "object":
        yield 'a wrapped schema has the type "object", and this one has another'
    for keyword in schema:
        if keyword not in _ALLOWED_KEYWORDS and not keyword.startswith("x-"):
            yield f"a wrapped schema has no {keyword[:80]}; it belongs to the wrapped property"


def _mismatch(keyword: str, fault: str) -> RequestError:
    message = f"the output schema is marked as wrapped and is not: {fault}"
    code, location = "BOX_MARK_MISMATCH", f"/outputSchema/{keyword}"
    violation = Violation(location, "", "", code, message)
    metadata = {"code": code, "pointer": location}
    return RequestError(ErrorReason.INVALID_TOOL, message, metadata, (violation,))


def without_wrap_marker(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``_meta`` of a result without the marker of wrapped structured content."""
    fastmcp = meta.get("fastmcp")
    if not isinstance(fastmcp, dict) or _FASTMCP_META not in fastmcp:
        return dict(meta)
    rest = {name: value for name, value in fastmcp.items() if name != _FASTMCP_META}
    others = {name: value for name, value in meta.items() if name != "fastmcp"}
    return {**others, "fastmcp": rest} if rest else others
