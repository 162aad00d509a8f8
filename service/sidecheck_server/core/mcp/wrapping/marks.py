"""Marks: what tells that a schema is a box, and which member of it is the value.

A schema that merely looks like a box is none: an object with one member called ``result``
may be what its author meant.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.types import Violation

__all__ = ["FIELD", "MARK", "box_of", "without_marks"]

MARK = "x-dedalus-box"
"""The keyword that marks the boxes made here; it names the member: ``{"field": "result"}``."""

FIELD = "result"
"""The member that is the value, in the boxes made here."""

_FASTMCP = "x-fastmcp-wrap-result"
"""FastMCP's mark; the member is always ``result`` (fastmcp 4.1.2, tools/base.py)."""

_WRAPPED = "wrap_result"
"""FastMCP's mark of a result, in ``_meta.fastmcp`` (fastmcp 4.1.2, tools/base.py)."""

_OF_A_BOX = frozenset({"$schema", "type", "properties", "required", "additionalProperties"})
_BESIDE = frozenset({"$defs", "definitions", "title", "description", "$comment", MARK, _FASTMCP})


def box_of(schema: Mapping[str, Any]) -> str:
    """Return the member that is the value if *schema* is marked as a box, or "" if it is not.

    Raises:
        Refusal: INVALID_TOOL if it is marked and is no box: an object with that member, and
            nothing else.
    """
    mark = MARK if schema.get(MARK) not in (None, False) else _FASTMCP
    if mark == _FASTMCP and not schema.get(_FASTMCP):
        return ""
    field: Any = FIELD
    if mark == MARK:
        said = schema[MARK]
        field = said.get("field") if isinstance(said, dict) else None
        if not isinstance(field, str) or not field:
            raise _broken(mark, 'the mark names no member; it says {"field": "result"}, say')
    for fault in _faults(schema, field):
        raise _broken(mark, fault)
    return str(field)


def _faults(schema: Mapping[str, Any], field: str) -> Iterator[str]:
    properties, needed = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict) or field not in properties:
        yield f"the mark names the member {field[:80]!r}, which properties has not"
    elif len(properties) > 1:
        yield "a box has one member, and this schema has several"
    elif not isinstance(needed, list) or any(name != field for name in needed):
        yield "a box requires nothing but its one member"
    if schema.get("type", "object") != "object":
        yield "a box is an object, and its type says something else"
    for keyword in schema:
        if keyword not in _OF_A_BOX | _BESIDE and not keyword.startswith("x-"):
            yield f"a box has no {keyword[:80]}: what is said of the value stands in its member"


def _broken(mark: str, why: str) -> RequestError:
    said = f"the output schema is marked as a box and is none: {why}"
    code, pointer = "BOX_MARK_MISMATCH", f"/outputSchema/{mark}"
    problem = Violation(pointer, "", "", code, said)
    return RequestError(
        ErrorReason.INVALID_TOOL, said, {"code": code, "pointer": pointer}, (problem,)
    )


def without_marks(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``_meta`` of a result without what marks its structured content as a box."""
    of_fastmcp = meta.get("fastmcp")
    if not isinstance(of_fastmcp, dict) or _WRAPPED not in of_fastmcp:
        return dict(meta)
    rest = {name: value for name, value in of_fastmcp.items() if name != _WRAPPED}
    kept = {name: value for name, value in meta.items() if name != "fastmcp"}
    return {**kept, "fastmcp": rest} if rest else kept
