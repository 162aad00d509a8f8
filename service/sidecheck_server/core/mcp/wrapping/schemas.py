"""Boxing: the form of an output schema for a protocol version.

Until 2025-11-25 an output schema has ``type: object`` at its root, and structured content
is an object; since 2026-07-28 both are any (SEP-2106). So a schema of something else stands
in a box before, an object with the value as its one member. Which values are boxed is read
off the schema alone: a list in a box stays one when it is empty.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.mcp.calls.results import has_structured_content, objects_only
from sidecheck_server.core.mcp.wrapping.marks import FIELD, MARK, box_of
from sidecheck_server.core.mcp.wrapping.relocation import (
    Own,
    is_resource,
    led_to,
    own_schemas,
    pointer_of,
    references_in,
    rewritten,
)
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.schemas.walker import draft_of
from sidecheck_server.core.types import as_pointer

__all__ = ["AdaptedSchema", "adapt_schema", "boxed", "needs_box", "root_is_object", "unboxed"]

_HOPS = 32
"""References that are followed to learn what a root is; pydantic writes one."""

_DEFINITIONS = ("$defs", "definitions")
_SCHEMA = 40  # Steps to look at a schema.

_PLAIN = "/~!$&'()*+,;=:@-._?"
"""What may stand in a fragment beside letters and digits (RFC 3986, section 3.5)."""

_OWN_URI = "urn:x-dedalus-box:"
"""What begins the URI of a value's schema that must be a resource to stand in a box."""


@dataclass(frozen=True, slots=True)
class AdaptedSchema:
    """An output schema in the form for a version."""

    schema: dict[str, Any]
    #: The member of structured content that is the value, or "" if all of it is.
    box: str = ""
    #: Whether it was in that box before.
    boxed_before: bool = False
    #: The member that was the value before it was taken out of a box, or "".
    taken_out_of: str = ""


def adapt_schema(schema: dict[str, Any], version: str, budget: Budget) -> AdaptedSchema:
    """Return *schema* in the form for *version*; the very same if nothing has to change.

    A version without output schemas has no form for it: then it is returned as it is.

    Raises:
        Refusal: INVALID_TOOL if it is marked as a box and is none.
        Exhausted: *budget* is spent.
    """
    field = box_of(schema)
    if not has_structured_content(version):
        return AdaptedSchema(schema)
    if field:
        if objects_only(version):
            return AdaptedSchema(_stamped(schema), box=field, boxed_before=True)
        return AdaptedSchema(_taken_out(schema, field, budget), taken_out_of=field)
    if needs_box(schema, version, budget):
        return AdaptedSchema(boxed(schema, budget), box=FIELD)
    return AdaptedSchema(_stamped(schema) if objects_only(version) else schema)


def _stamped(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema*, which admits objects only, with a root that says so."""
    if schema.get("type") == "object":
        return schema
    return {**schema, "type": "object"} if "type" in schema else {"type": "object", **schema}


def needs_box(schema: dict[str, Any], version: str, budget: Budget) -> bool:
    """Return whether *schema* has to stand in a box to be an output schema of *version*.

    Raises:
        Exhausted: *budget* is spent.
    """
    return objects_only(version) and not root_is_object(schema, budget)


def root_is_object(schema: dict[str, Any], budget: Budget) -> bool:
    """Return whether the root of *schema* says that nothing but objects are admitted.

    By ``type``, or by what local references, no more than 32, and ``allOf`` lead to.
    ``properties`` alone says nothing of what is no object.

    Raises:
        Exhausted: *budget* is spent.
    """
    draft = draft_of(schema)
    seen: set[int] = set()
    pending: list[Any] = [schema]
    hops = 0
    while pending:
        here = pending.pop()
        if not isinstance(here, dict) or id(here) in seen:
            continue
        seen.add(id(here))
        spend(budget, _SCHEMA)
        reference = here.get("$ref")
        refers = isinstance(reference, str)
        if not (refers and draft.value <= Draft.DRAFT_07.value):
            # Before 2019-09 a reference makes what stands beside it void.
            if here.get("type") in ("object", ["object"]):
                return True
            conjuncts = here.get("allOf")
            if isinstance(conjuncts, list):
                spend(budget, len(conjuncts))
                pending.extend(each for each in conjuncts if not is_resource(each, draft))
        hops += refers
        if refers and hops <= _HOPS and not is_resource(schema, draft):
            pending.append(led_to(here["$ref"], schema, draft, budget))
    return False


def boxed(schema: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Return *schema* in a box.

    Its definitions become those of the box if it refers to nothing else by pointers;
    otherwise the pointers are written anew. ``$schema`` is the box's.

    Raises:
        Exhausted: *budget* is spent.
    """
    draft = draft_of(schema)
    value, around = dict(schema), {}
    if "$schema" in schema:
        around["$schema"] = schema["$schema"]
    hoisted: dict[str, Any] = {}
    if not is_resource(schema, draft):
        own = own_schemas(schema, draft, budget)
        if _is_led_to_from_elsewhere(schema, own, draft):
            # $recursiveRef leads to roots of resources, and to nothing else.
            value = {"$id": _OWN_URI + digest_of(schema).removeprefix("sha256:"), **value}
        else:
            if _refers_to_definitions_alone(own, draft):
                hoisted = {name: value.pop(name) for name in _DEFINITIONS if name in value}
            else:
                value = rewritten(schema, own, draft, _into_box, budget)
            value.pop("$schema", None)
    return {
        **around,
        "type": "object",
        "properties": {FIELD: value},
        "required": [FIELD],
        **hoisted,
        MARK: {"field": FIELD},
    }


def _into_box(reference: str) -> str:
    if pointer_of(reference) is None:
        return reference
    return f"#/properties/{FIELD}{reference[1:]}"


def _is_led_to_from_elsewhere(schema: dict[str, Any], own: Own, draft: Draft) -> bool:
    """Return whether ``$recursiveRef`` may lead to the root of *schema* (2019-09 core, 8.2.4.2)."""
    return draft is Draft.DRAFT_2019_09 and (
        schema.get("$recursiveAnchor") is True
        or any("$recursiveRef" in each for each in own.values())
    )


def _refers_to_definitions_alone(own: Own, draft: Draft) -> bool:
    pointers = (
        pointer_of(reference)
        for schema in own.values()
        for _, reference in references_in(schema, draft)
    )
    return all(pointer is None or _is_of_definitions(pointer) for pointer in pointers)


def _is_of_definitions(pointer: str) -> bool:
    return pointer.startswith(tuple(f"/{name}/" for name in _DEFINITIONS))


def unboxed(schema: dict[str, Any], budget: Budget) -> dict[str, Any] | None:
    """Return what the box *schema* holds, or None if no mark says that it is one.

    Raises:
        Refusal: INVALID_TOOL if it is marked as a box and is none, or if what it holds
            cannot stand by itself.
        Exhausted: *budget* is spent.
    """
    field = box_of(schema)
    return _taken_out(schema, field, budget) if field else None


def _taken_out(schema: dict[str, Any], field: str, budget: Budget) -> dict[str, Any]:
    draft = draft_of(schema)
    value = schema["properties"][field]
    if not isinstance(value, dict):
        # An output schema is an object.
        return {} if value else {"not": {}}
    if is_resource(value, draft):
        uri = value.get("$id")
        if isinstance(uri, str) and uri.startswith(_OWN_URI):
            return {name: each for name, each in value.items() if name != "$id"}
        return _declared(value, schema)
    own = own_schemas(schema, draft, budget)

    def out_of_box(reference: str) -> str:
        return _out_of_box(reference, field)

    taken = rewritten(value, own, draft, out_of_box, budget)
    for name in _DEFINITIONS:
        if isinstance(schema.get(name), dict):
            there = rewritten(schema[name], own, draft, out_of_box, budget)
            taken[name] = _joined(taken.get(name, {}), there)
    return _declared(taken, schema)


def _out_of_box(reference: str, field: str) -> str:
    pointer = pointer_of(reference)
    if pointer is None or _is_of_definitions(pointer):
        return reference
    start = as_pointer(("properties", field))
    if pointer == start or pointer.startswith(f"{start}/"):
        as_written = reference.startswith(f"#{start}")
        rest = reference[len(start) + 1 :] if as_written else quote(pointer[len(start) :], _PLAIN)
        return f"#{rest}"
    raise _cannot(f"it refers to {reference[:80]!r}, which is outside of the value")


def _joined(one: Any, other: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(one, dict):
        raise _cannot("its definitions are no object")
    for name in one.keys() & other.keys():
        if not json_equal(one[name], other[name]):
            raise _cannot(f"the box and the value define {name[:80]!r} differently")
    return {**one, **other}


def _declared(value: dict[str, Any], box: dict[str, Any]) -> dict[str, Any]:
    """Return *value* with the dialect of the *box* that it was in."""
    if "$schema" in value or "$schema" not in box:
        return value
    return {"$schema": box["$schema"], **value}


def _cannot(why: str) -> RequestError:
    said = f"what the output schema has in its box cannot stand by itself: {why}"
    return RequestError(ErrorReason.INVALID_TOOL, said, {"pointer": "/outputSchema"})
