"""All types of the protocol by name, and their rendering as JSON Schema."""

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.mcp.types import base, capabilities, input_requests, resources, tools
from sidecheck_server.core.mcp.types.model import (
    Alias,
    Choice,
    Kind,
    ListOf,
    MapOf,
    ObjectType,
    OneOf,
    Plain,
    Property,
    Ref,
    Type,
)

__all__ = ["TYPES", "properties_of", "render_schema"]


def render_schema(types: Mapping[str, Type], name: str, version: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the type *name* in *version*.

    The type is the root; the types that it refers to are under ``$defs``.

    Raises:
        KeyError: *version* does not have the type, or a type that it refers to.
    """
    definitions: dict[str, Any] = {}
    pending = list(_list_references(types, name, version))
    while pending:
        reference = pending.pop()
        if reference not in definitions:
            definitions[reference] = _render_type(types, reference, version)
            pending += _list_references(types, reference, version)
    root = _render_type(types, name, version)
    return {**root, "$defs": dict(sorted(definitions.items()))} if definitions else root


def properties_of(
    types: Mapping[str, Type], object_type: ObjectType, version: str
) -> dict[str, Property]:
    """Return the own and inherited properties of *object_type* in *version*, by name."""
    properties: dict[str, Property] = {}
    for name in object_type.bases:
        base = types[name]
        if base.since <= version <= base.until:
            assert isinstance(base, ObjectType)
            properties |= properties_of(types, base, version)
    own_properties = {
        property_.name: property_
        for property_ in object_type.properties
        if property_.since <= version <= property_.until
    }
    return properties | own_properties


def _get_type(types: Mapping[str, Type], name: str, version: str) -> Type:
    type_ = types[name]
    if not type_.since <= version <= type_.until:
        raise KeyError(f"{version} has no {name}")
    return type_


def _render_type(types: Mapping[str, Type], name: str, version: str) -> dict[str, Any]:
    match _get_type(types, name, version):
        case ObjectType() as object_type:
            return _render_object(types, object_type, version)
        case Choice() as choice:
            branches = [
                {"$ref": f"#/$defs/{alternative.name}"}
                for alternative in choice.alternatives
                if alternative.since <= version <= alternative.until
            ]
            if choice.discriminators:
                return {**_render_properties(choice.discriminators), "anyOf": branches}
            return branches[0] if len(branches) == 1 else {"anyOf": branches}
        case Alias(kind=kind):
            return _render_kind(kind)


def _render_object(
    types: Mapping[str, Type], object_type: ObjectType, version: str
) -> dict[str, Any]:
    schema = _render_properties(properties_of(types, object_type, version).values())
    if object_type.closed:
        schema["additionalProperties"] = False
    return schema


def _render_properties(properties: Collection[Property]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    schemas = {property_.name: _render_kind(property_.kind) for property_ in properties}
    if schemas:
        schema["properties"] = schemas
    required = [property_.name for property_ in properties if property_.required]
    if required:
        schema["required"] = required
    return schema


def _render_kind(kind: Kind) -> dict[str, Any]:
    match kind:
        case Plain(schema):
            return dict(schema)
        case Ref(name):
            return {"$ref": f"#/$defs/{name}"}
        case ListOf(item, max_items):
            bound = {} if max_items is None else {"maxItems": max_items}
            return {"type": "array", "items": _render_kind(item), **bound}
        case MapOf(value):
            return {"type": "object", "additionalProperties": _render_kind(value)}
        case OneOf(kinds):
            return {"anyOf": [_render_kind(branch) for branch in kinds]}


def _list_references(types: Mapping[str, Type], name: str, version: str) -> Iterator[str]:
    """Yield the names of the types that the type *name* refers to directly."""
    match _get_type(types, name, version):
        case ObjectType() as object_type:
            for property_ in properties_of(types, object_type, version).values():
                yield from _list_kind_references(property_.kind)
        case Choice(alternatives=alternatives):
            yield from (
                alternative.name
                for alternative in alternatives
                if alternative.since <= version <= alternative.until
            )
        case Alias(kind=kind):
            yield from _list_kind_references(kind)


def _list_kind_references(kind: Kind) -> Iterator[str]:
    match kind:
        case Plain():
            pass
        case Ref(name):
            yield name
        case ListOf(item):
            yield from _list_kind_references(item)
        case MapOf(value):
            yield from _list_kind_references(value)
        case OneOf(kinds):
            for branch in kinds:
                yield from _list_kind_references(branch)


_ALL: tuple[Type, ...] = (
    *base.TYPES,
    *capabilities.TYPES,
    *input_requests.ELICITATION_TYPES,
    *resources.TYPES,
    *input_requests.SAMPLING_TYPES,
    *tools.TOOL_TYPES,
    *tools.TASK_TYPES,
)

TYPES: Mapping[str, Type] = MappingProxyType({type_.name: type_ for type_ in _ALL})
"""All types by name."""
# Decision 0023: tables of our own, validated by the engines for payloads.
assert len(TYPES) == len(_ALL)
