"""Wraps and unwraps output schemas for protocol versions.

Until 2025-11-25 an output schema has ``type: object`` at its root and structured content is
an object; since 2026-07-28 both are unrestricted (SEP-2106). For the earlier versions, a
schema of other values is wrapped in an object schema with one property for the value. The
schema alone decides this, whatever the value: an empty list is wrapped like any list.

Wrapping moves the schema within its document, so the start of each reference to it is
rewritten; escapes stay unchanged. Contents of ``const``, ``examples`` and unknown keywords are
data, unless a reference leads there. A subschema with its own URI stays unchanged, since its
references are relative to that URI (2020-12 core, section 8.2.1).
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

# Steps per element.
_SUBSCHEMA = 60
_PROPERTY = 4
_VALUE = 4

_POINTER_KEYWORDS = ("$ref", "$dynamicRef")

_MAX_REFERENCES = 32
"""Number of references that are followed to find the type of a root; pydantic writes one."""

_DEFINITIONS = ("$defs", "definitions")
_SCHEMA_STEPS = 40
"""Steps for a schema whose type is read."""

_UNQUOTED = "/~!$&'()*+,;=:@-._?"
"""Punctuation that a fragment may have unescaped (RFC 3986, section 3.5)."""

_WRAPPED_URI = "urn:x-dedalus-box:"
"""Prefix of the ``$id`` that makes a wrapped schema a resource."""


@dataclass(frozen=True, slots=True)
class AdaptedSchema:
    """An output schema in the form for a protocol version."""

    schema: dict[str, Any]
    #: Property of structured content that holds the value, or "" if it is not wrapped.
    wrapped_property: str = ""
    #: Whether the canonical schema was wrapped already.
    was_wrapped: bool = False
    #: Property of the value in the canonical schema if adapting unwrapped it, or "".
    unwrapped_property: str = ""

    @property
    def wraps_content(self) -> bool:
        """Whether content must be wrapped to match, because adapting wrapped the schema."""
        return bool(self.wrapped_property) and not self.was_wrapped


def adapt_schema(schema: dict[str, Any], version: str, budget: Budget) -> AdaptedSchema:
    """Return *schema* in the form for *version*; the same object if it is unchanged.

    Versions without output schemas require no change. A wrapped schema that cannot be
    unwrapped stays wrapped, which is valid in every version.

    Raises:
        RequestError: INVALID_TOOL if its marker contradicts it.
        Exhausted: *budget* is spent.
    """
    name = wrapped_property_of(schema)
    if not has_structured_content(version):
        return AdaptedSchema(schema)
    if name:
        if requires_object_output(version):
            return AdaptedSchema(_add_object_type(schema), wrapped_property=name, was_wrapped=True)
        unwrapped = unwrap_schema(schema, budget)
        if unwrapped is None:
            return AdaptedSchema(schema, wrapped_property=name, was_wrapped=True)
        return AdaptedSchema(unwrapped, unwrapped_property=name)
    if needs_wrapping(schema, version, budget):
        return AdaptedSchema(wrap_schema(schema, budget), wrapped_property=WRAPPED_PROPERTY)
    return AdaptedSchema(_add_object_type(schema) if requires_object_output(version) else schema)


def _add_object_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema*, which accepts only objects, with ``type: object`` at its root."""
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
    """Return whether the root of *schema* declares that it accepts only objects.

    The declaration is ``type``, directly or through ``allOf`` and up to 32 local references.
    ``properties`` alone does not restrict the type.

    Raises:
        Exhausted: *budget* is spent.
    """
    draft = declared_draft(schema)
    seen: set[int] = set()
    pending: list[Any] = [schema]
    references = 0
    while pending:
        subschema = pending.pop()
        if not isinstance(subschema, dict) or id(subschema) in seen:
            continue
        seen.add(id(subschema))
        spend(budget, _SCHEMA_STEPS)
        is_reference = isinstance(subschema.get("$ref"), str)
        # Before 2019-09, "$ref" disables its sibling keywords.
        if not (is_reference and draft.value <= Draft.DRAFT_07.value):
            if subschema.get("type") in ("object", ["object"]):
                return True
            branches = subschema.get("allOf")
            if isinstance(branches, list):
                spend(budget, len(branches))
                pending.extend(branch for branch in branches if not is_resource(branch, draft))
        references += is_reference
        if is_reference and references <= _MAX_REFERENCES and not is_resource(schema, draft):
            pending.append(_resolve_pointer(subschema["$ref"], schema, draft, budget))
    return False


def wrap_schema(schema: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Return *schema* wrapped in an object schema with one property.

    ``$schema`` moves to the wrapper. The definitions move too if all pointers of the schema
    lead to definitions; otherwise the pointers are rewritten.

    Raises:
        Exhausted: *budget* is spent.
    """
    draft = declared_draft(schema)
    value, dialect = dict(schema), {}
    if "$schema" in schema:
        dialect["$schema"] = schema["$schema"]
    definitions: dict[str, Any] = {}
    if not is_resource(schema, draft):
        schemas = _collect_schemas(schema, draft, budget)
        if _has_recursive_root(schema, schemas, draft):
            # $recursiveRef targets only the root of a resource.
            value = {"$id": _WRAPPED_URI + digest_of(schema).removeprefix("sha256:"), **value}
        else:
            if _refers_only_to_definitions(schemas, draft):
                definitions = {name: value.pop(name) for name in _DEFINITIONS if name in value}
            else:
                value = _rewrite_references(schema, schemas, draft, _move_into_wrapper, budget)
            value.pop("$schema", None)
    return {
        **dialect,
        "type": "object",
        "properties": {WRAPPED_PROPERTY: value},
        "required": [WRAPPED_PROPERTY],
        **definitions,
        WRAP_KEYWORD: {"field": WRAPPED_PROPERTY},
    }


def _move_into_wrapper(reference: str) -> str:
    if _decode_pointer(reference) is None:
        return reference
    return f"#/properties/{WRAPPED_PROPERTY}{reference[1:]}"


def _has_recursive_root(schema: dict[str, Any], schemas: _ResourceSchemas, draft: Draft) -> bool:
    """Return whether ``$recursiveRef`` may target the root of *schema*.

    Source: 2019-09 core, section 8.2.4.2.
    """
    return draft is Draft.DRAFT_2019_09 and (
        schema.get("$recursiveAnchor") is True
        or any("$recursiveRef" in subschema for subschema in schemas.values())
    )


def _refers_only_to_definitions(schemas: _ResourceSchemas, draft: Draft) -> bool:
    pointers = (
        _decode_pointer(reference)
        for schema in schemas.values()
        for _, reference in _list_references(schema, draft)
    )
    return all(pointer is None or _leads_to_definition(pointer) for pointer in pointers)


def _leads_to_definition(pointer: str) -> bool:
    return pointer.startswith(tuple(f"/{name}/" for name in _DEFINITIONS))


def unwrap_schema(schema: dict[str, Any], budget: Budget) -> dict[str, Any] | None:
    """Return the schema that *schema* wraps.

    None if it is not marked as wrapped, or if the wrapped schema depends on the wrapper.

    Raises:
        RequestError: INVALID_TOOL if its marker contradicts it.
        Exhausted: *budget* is spent.
    """
    name = wrapped_property_of(schema)
    try:
        return _unwrap(schema, name, budget) if name else None
    except _DependsOnWrapperError:
        return None


class _DependsOnWrapperError(Exception):
    """The wrapped schema refers to its wrapper, or has conflicting definitions."""


def _unwrap(schema: dict[str, Any], name: str, budget: Budget) -> dict[str, Any]:
    draft = declared_draft(schema)
    value = schema["properties"][name]
    if not isinstance(value, dict):
        # An output schema is an object, not a boolean.
        return {} if value else {"not": {}}
    if is_resource(value, draft):
        uri = value.get("$id")
        if isinstance(uri, str) and uri.startswith(_WRAPPED_URI):
            return {keyword: item for keyword, item in value.items() if keyword != "$id"}
        return _add_dialect(schema, value)
    schemas = _collect_schemas(schema, draft, budget)

    def rewrite(reference: str) -> str:
        return _move_out_of_wrapper(reference, name)

    unwrapped = _rewrite_references(value, schemas, draft, rewrite, budget)
    for keyword in _DEFINITIONS:
        if isinstance(schema.get(keyword), dict):
            outer = _rewrite_references(schema[keyword], schemas, draft, rewrite, budget)
            unwrapped[keyword] = _merge_definitions(unwrapped.get(keyword, {}), outer)
    return _add_dialect(schema, unwrapped)


def _move_out_of_wrapper(reference: str, name: str) -> str:
    pointer = _decode_pointer(reference)
    if pointer is None or _leads_to_definition(pointer):
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


def _add_dialect(wrapper: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with the ``$schema`` of its *wrapper*."""
    if "$schema" in schema or "$schema" not in wrapper:
        return schema
    return {"$schema": wrapper["$schema"], **schema}


def _collect_schemas(root: dict[str, Any], draft: Draft, budget: Budget) -> _ResourceSchemas:
    """Return *root* and the subschemas of the same resource, by identity.

    Subschemas are the values of the draft's applicators and the targets of references.

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
        for _, reference in _list_references(schema, draft):
            pending.append(_resolve_pointer(reference, root, draft, budget))
    return schemas


def _list_references(schema: dict[str, Any], draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield each reference keyword at the root of *schema*, with its value."""
    for keyword in _POINTER_KEYWORDS:
        reference = schema.get(keyword)
        if isinstance(reference, str) and keyword in KEYWORDS[draft]:
            yield keyword, reference


def _decode_pointer(reference: str) -> str | None:
    """Return the JSON Pointer of *reference*, percent-decoded.

    None if *reference* is an anchor or the URI of another resource.
    """
    if reference and not reference.startswith("#"):
        return None
    pointer = unquote(reference[1:])
    return pointer if not pointer or pointer.startswith("/") else None


def _resolve_pointer(reference: str, root: dict[str, Any], draft: Draft, budget: Budget) -> Any:
    """Return the target of the pointer *reference* in *root*, or None.

    None also if the path leads through another resource.

    Raises:
        Exhausted: *budget* is spent.
    """
    pointer = _decode_pointer(reference)
    if pointer is None:
        return None
    spend(budget, _SUBSCHEMA + len(pointer))
    target: Any = root
    for step in pointer_steps(pointer):
        if isinstance(target, dict) and step in target:
            target = target[step]
        elif isinstance(target, list) and step.isdecimal() and step.isascii() and len(step) < 9:
            target = target[int(step)] if int(step) < len(target) else None
        else:
            return None
        if is_resource(target, draft):
            return None
    return target


def _rewrite_references(
    value: Any,
    schemas: _ResourceSchemas,
    draft: Draft,
    rewrite: Callable[[str], str],
    budget: Budget,
) -> Any:
    """Return a copy of *value* with *rewrite* applied to each reference in *schemas*.

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
        for keyword, reference in _list_references(value, draft):
            copy[keyword] = rewrite(reference)
    return copy
