"""Wraps and unwraps output schemas for protocol versions.

Until 2025-11-25 an output schema has ``type: object`` at its root and structured content is
an object; since 2026-07-28 both are unrestricted (SEP-2106). For the earlier versions a
schema of anything else is wrapped in an object with the value as its one property. The
schema alone decides which values are wrapped: an empty list is wrapped like a full one.

A wrapped schema moves in its document, and the references to it are rewritten, of which only
the start changes: escapes stay as they are. The contents of ``const``, ``examples`` and unknown
keywords are data, unless a reference leads there. A subschema with a URI of its own is
unchanged: references in it are relative to itself (2020-12 core, section 8.2.1).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from sidecheck_server.core.json_values import digest_of, json_equal
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.mcp.context import has_structured_content, requires_object_output
from sidecheck_server.core.mcp.wrapping.markers import (
    WRAP_KEYWORD,
    WRAPPED_PROPERTY,
    wrapped_property_of,
)
from sidecheck_server.core.schemas.keywords import KEYWORDS, subschemas
from sidecheck_server.core.schemas.walker import declared_draft, is_resource
from sidecheck_server.core.types import Draft, as_pointer, pointer_steps

__all__ = [
    "AdaptedSchema",
    "adapt_schema",
    "needs_wrapping",
    "root_is_object",
    "unwrap_schema",
    "wrap_schema",
]

#: Subschemas of a resource, by identity.
_ResourceSchemas = dict[int, dict[str, Any]]

# Steps.
_SUBSCHEMA = 60
_PROPERTY = 4
_VALUE = 4

_POINTER_KEYWORDS = ("$ref", "$dynamicRef")

_MAX_REFERENCES = 32
"""References that are followed to find the type of a root; pydantic writes one."""

_DEFINITIONS = ("$defs", "definitions")
_SCHEMA_STEPS = 40

_UNQUOTED = "/~!$&'()*+,;=:@-._?"
"""Characters of a fragment beside letters and digits (RFC 3986, section 3.5)."""

_OWN_URI = "urn:x-dedalus-box:"
"""Prefix of the URI of a wrapped schema that has to be a resource."""


@dataclass(frozen=True, slots=True)
class AdaptedSchema:
    """An output schema in the form for a protocol version."""

    schema: dict[str, Any]
    #: Property of structured content that holds the value, or "" if it is not wrapped.
    wrapped_property: str = ""
    #: Whether the schema was already wrapped before.
    was_wrapped: bool = False
    #: Property that held the value before the schema was unwrapped, or "".
    unwrapped_property: str = ""

    @property
    def wraps_content(self) -> bool:
        """Whether content of the schema has to be wrapped, which was not wrapped before."""
        return bool(self.wrapped_property) and not self.was_wrapped


def adapt_schema(schema: dict[str, Any], version: str, budget: Budget) -> AdaptedSchema:
    """Return *schema* in the form for *version*; the same object if nothing has to change.

    For versions without output schemas it does not change. A wrapped schema that cannot be
    unwrapped stays wrapped, which is valid in every version.

    Raises:
        RequestError: INVALID_TOOL if it is marked as wrapped and is not.
        Exhausted: *budget* is spent.
    """
    name = wrapped_property_of(schema)
    if not has_structured_content(version):
        return AdaptedSchema(schema)
    if name:
        if requires_object_output(version):
            return AdaptedSchema(_with_object_type(schema), wrapped_property=name, was_wrapped=True)
        unwrapped = unwrap_schema(schema, budget)
        if unwrapped is None:
            return AdaptedSchema(schema, wrapped_property=name, was_wrapped=True)
        return AdaptedSchema(unwrapped, unwrapped_property=name)
    if needs_wrapping(schema, version, budget):
        return AdaptedSchema(wrap_schema(schema, budget), wrapped_property=WRAPPED_PROPERTY)
    return AdaptedSchema(_with_object_type(schema) if requires_object_output(version) else schema)


def _with_object_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema*, which admits only objects, with that type at its root."""
    if schema.get("type") == "object":
        return schema
    return {**schema, "type": "object"} if "type" in schema else {"type": "object", **schema}


def needs_wrapping(schema: dict[str, Any], version: str, budget: Budget) -> bool:
    """Return whether *schema* must be wrapped to be an output schema of *version*.

    Raises:
        Exhausted: *budget* is spent.
    """
    return requires_object_output(version) and not root_is_object(schema, budget)


def root_is_object(schema: dict[str, Any], budget: Budget) -> bool:
    """Return whether the root of *schema* declares that it admits only objects.

    It does so by ``type``, directly or through ``allOf`` and up to 32 local references.
    ``properties`` alone does not restrict the type.

    Raises:
        Exhausted: *budget* is spent.
    """
    draft = declared_draft(schema)
    seen: set[int] = set()
    pending: list[Any] = [schema]
    references = 0
    while pending:
        here = pending.pop()
        if not isinstance(here, dict) or id(here) in seen:
            continue
        seen.add(id(here))
        spend(budget, _SCHEMA_STEPS)
        is_reference = isinstance(here.get("$ref"), str)
        # Before 2019-09 the keywords beside a reference have no effect.
        if not (is_reference and draft.value <= Draft.DRAFT_07.value):
            if here.get("type") in ("object", ["object"]):
                return True
            branches = here.get("allOf")
            if isinstance(branches, list):
                spend(budget, len(branches))
                pending.extend(branch for branch in branches if not is_resource(branch, draft))
        references += is_reference
        if is_reference and references <= _MAX_REFERENCES and not is_resource(schema, draft):
            pending.append(_resolve_pointer(here["$ref"], schema, draft, budget))
    return False


def wrap_schema(schema: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Return *schema* wrapped in an object with one property.

    ``$schema`` moves to the wrapper. So do the definitions, if all pointers of the schema
    lead to them; otherwise the pointers are rewritten.

    Raises:
        Exhausted: *budget* is spent.
    """
    draft = declared_draft(schema)
    value, dialect = dict(schema), {}
    if "$schema" in schema:
        dialect["$schema"] = schema["$schema"]
    definitions: dict[str, Any] = {}
    if not is_resource(schema, draft):
        schemas = _resource_schemas(schema, draft, budget)
        if _has_recursive_root(schema, schemas, draft):
            # $recursiveRef leads only to roots of resources.
            value = {"$id": _OWN_URI + digest_of(schema).removeprefix("sha256:"), **value}
        else:
            if _refers_only_to_definitions(schemas, draft):
                definitions = {name: value.pop(name) for name in _DEFINITIONS if name in value}
            else:
                value = _rewrite_references(schema, schemas, draft, _into_wrapper, budget)
            value.pop("$schema", None)
    return {
        **dialect,
        "type": "object",
        "properties": {WRAPPED_PROPERTY: value},
        "required": [WRAPPED_PROPERTY],
        **definitions,
        WRAP_KEYWORD: {"field": WRAPPED_PROPERTY},
    }


def _into_wrapper(reference: str) -> str:
    if _pointer_of(reference) is None:
        return reference
    return f"#/properties/{WRAPPED_PROPERTY}{reference[1:]}"


def _has_recursive_root(schema: dict[str, Any], schemas: _ResourceSchemas, draft: Draft) -> bool:
    """Return whether ``$recursiveRef`` may lead to the root of *schema* (2019-09, 8.2.4.2)."""
    return draft is Draft.DRAFT_2019_09 and (
        schema.get("$recursiveAnchor") is True
        or any("$recursiveRef" in subschema for subschema in schemas.values())
    )


def _refers_only_to_definitions(schemas: _ResourceSchemas, draft: Draft) -> bool:
    pointers = (
        _pointer_of(reference)
        for schema in schemas.values()
        for _, reference in _references_in(schema, draft)
    )
    return all(pointer is None or _is_of_definitions(pointer) for pointer in pointers)


def _is_of_definitions(pointer: str) -> bool:
    return pointer.startswith(tuple(f"/{name}/" for name in _DEFINITIONS))


def unwrap_schema(schema: dict[str, Any], budget: Budget) -> dict[str, Any] | None:
    """Return the schema that *schema* wraps.

    None if it is not marked as wrapped, or if the wrapped schema depends on the wrapper.

    Raises:
        RequestError: INVALID_TOOL if it is marked as wrapped and is not.
        Exhausted: *budget* is spent.
    """
    name = wrapped_property_of(schema)
    try:
        return _unwrap(schema, name, budget) if name else None
    except _DependsOnWrapperError:
        return None


class _DependsOnWrapperError(Exception):
    """The wrapped schema refers to its wrapper, or its definitions differ from the wrapper's."""


def _unwrap(schema: dict[str, Any], name: str, budget: Budget) -> dict[str, Any]:
    draft = declared_draft(schema)
    value = schema["properties"][name]
    if not isinstance(value, dict):
        # An output schema is an object, not a boolean.
        return {} if value else {"not": {}}
    if is_resource(value, draft):
        uri = value.get("$id")
        if isinstance(uri, str) and uri.startswith(_OWN_URI):
            return {keyword: item for keyword, item in value.items() if keyword != "$id"}
        return _with_dialect_of(schema, value)
    schemas = _resource_schemas(schema, draft, budget)

    def out_of_wrapper(reference: str) -> str:
        return _out_of_wrapper(reference, name)

    unwrapped = _rewrite_references(value, schemas, draft, out_of_wrapper, budget)
    for keyword in _DEFINITIONS:
        if isinstance(schema.get(keyword), dict):
            outer = _rewrite_references(schema[keyword], schemas, draft, out_of_wrapper, budget)
            unwrapped[keyword] = _merge_definitions(unwrapped.get(keyword, {}), outer)
    return _with_dialect_of(schema, unwrapped)


def _out_of_wrapper(reference: str, name: str) -> str:
    pointer = _pointer_of(reference)
    if pointer is None or _is_of_definitions(pointer):
        return reference
    start = as_pointer(("properties", name))
    if pointer == start or pointer.startswith(f"{start}/"):
        is_unescaped = reference.startswith(f"#{start}")
        rest = (
            reference[len(start) + 1 :] if is_unescaped else quote(pointer[len(start) :], _UNQUOTED)
        )
        return f"#{rest}"
    raise _DependsOnWrapperError


def _merge_definitions(inner: Any, outer: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(inner, dict):
        raise _DependsOnWrapperError
    for name in inner.keys() & outer.keys():
        if not json_equal(inner[name], outer[name]):
            raise _DependsOnWrapperError
    return {**inner, **outer}


def _with_dialect_of(wrapper: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with the ``$schema`` of its *wrapper*."""
    if "$schema" in schema or "$schema" not in wrapper:
        return schema
    return {"$schema": wrapper["$schema"], **schema}


def _resource_schemas(root: dict[str, Any], draft: Draft, budget: Budget) -> _ResourceSchemas:
    """Return *root* and the subschemas of the same resource.

    They are where the draft has subschemas and where references of the resource lead.

    Raises:
        Exhausted: *budget* is spent.
    """
    schemas: _ResourceSchemas = {}
    pending: list[Any] = [root]
    while pending:
        schema = pending.pop()
        if not isinstance(schema, dict) or id(schema) in schemas:
            continue
        if schema is not root and is_resource(schema, draft):
            continue
        spend(budget, _SUBSCHEMA + _PROPERTY * len(schema))
        schemas[id(schema)] = schema
        pending.extend(inner for _, inner in subschemas(schema, draft))
        for _, reference in _references_in(schema, draft):
            pending.append(_resolve_pointer(reference, root, draft, budget))
    return schemas


def _references_in(schema: dict[str, Any], draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield the keywords of *schema* itself that may hold a pointer, with their references."""
    for keyword in _POINTER_KEYWORDS:
        reference = schema.get(keyword)
        if isinstance(reference, str) and keyword in KEYWORDS[draft]:
            yield keyword, reference


def _pointer_of(reference: str) -> str | None:
    """Return the JSON Pointer of *reference*, percent-decoded.

    None if it is another reference: an anchor, or the URI of another resource.
    """
    if reference and not reference.startswith("#"):
        return None
    pointer = unquote(reference[1:])
    return pointer if not pointer or pointer.startswith("/") else None


def _resolve_pointer(reference: str, root: dict[str, Any], draft: Draft, budget: Budget) -> Any:
    """Return the target of the pointer *reference* in *root*, or None.

    None too if the path leads through another resource.

    Raises:
        Exhausted: *budget* is spent.
    """
    pointer = _pointer_of(reference)
    if pointer is None:
        return None
    spend(budget, _SUBSCHEMA + len(pointer))
    here: Any = root
    for step in pointer_steps(pointer):
        if isinstance(here, dict) and step in here:
            here = here[step]
        elif isinstance(here, list) and step.isdecimal() and step.isascii() and len(step) < 9:
            here = here[int(step)] if int(step) < len(here) else None
        else:
            return None
        if is_resource(here, draft):
            return None
    return here


def _rewrite_references(
    value: Any,
    schemas: _ResourceSchemas,
    draft: Draft,
    rewrite: Callable[[str], str],
    budget: Budget,
) -> Any:
    """Return *value* with *rewrite* applied to each reference of the schemas in *schemas*.

    The caller bounds the nesting of *value*.

    Raises:
        Exhausted: *budget* is spent.
    """
    spend(budget, _VALUE)
    if isinstance(value, list):
        return [_rewrite_references(item, schemas, draft, rewrite, budget) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {
        name: _rewrite_references(item, schemas, draft, rewrite, budget)
        for name, item in value.items()
    }
    if id(value) in schemas:
        for keyword, reference in _references_in(value, draft):
            copy[keyword] = rewrite(reference)
    return copy
