"""From shapes to the JSON Schema of a type in one version."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sidecheck_server.core.mcp.types.model import (
    Alias,
    Choice,
    Field,
    Kind,
    ListOf,
    MapOf,
    ObjectType,
    OneOf,
    Plain,
    Ref,
    Type,
)

__all__ = ["fields_of", "rendered"]


def rendered(types: Mapping[str, Type], name: str, version: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the type *name* as *version* has it.

    The type itself is the root; those that it refers to stand under ``$defs``.

    Raises:
        KeyError: *version* has no such type, or no type that it refers to.
    """
    definitions: dict[str, Any] = {}
    waiting = list(_references(types, name, version))
    while waiting:
        other = waiting.pop()
        if other not in definitions:
            definitions[other] = _schema(types, other, version)
            waiting += _references(types, other, version)
    root = _schema(types, name, version)
    return {**root, "$defs": dict(sorted(definitions.items()))} if definitions else root


def fields_of(types: Mapping[str, Type], shape: ObjectType, version: str) -> dict[str, Field]:
    """Return the members of *shape* in *version* by name, with those of its bases."""
    found: dict[str, Field] = {}
    for base in shape.bases:
        one = types[base]
        if one.since <= version <= one.until:
            assert isinstance(one, ObjectType)
            found |= fields_of(types, one, version)
    own = {field.name: field for field in shape.fields if field.since <= version <= field.until}
    return found | own


def _type(types: Mapping[str, Type], name: str, version: str) -> Type:
    found = types[name]
    if not found.since <= version <= found.until:
        raise KeyError(f"{version} has no {name}")
    return found


def _schema(types: Mapping[str, Type], name: str, version: str) -> dict[str, Any]:
    match _type(types, name, version):
        case ObjectType() as shape:
            return _object(types, shape, version)
        case Choice() as choice:
            branches = [
                {"$ref": f"#/$defs/{each.name}"}
                for each in choice.alternatives
                if each.since <= version <= each.until
            ]
            if choice.marks:
                return {**_members(choice.marks), "anyOf": branches}
            return branches[0] if len(branches) == 1 else {"anyOf": branches}
        case Alias(kind=kind):
            return _kind(kind)


def _object(types: Mapping[str, Type], shape: ObjectType, version: str) -> dict[str, Any]:
    schema = _members(fields_of(types, shape, version).values())
    if shape.closed:
        schema["additionalProperties"] = False
    return schema


def _members(fields: Collection[Field]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    properties = {field.name: _kind(field.kind) for field in fields}
    if properties:
        schema["properties"] = properties
    needed = [field.name for field in fields if field.required]
    if needed:
        schema["required"] = needed
    return schema


def _kind(kind: Kind) -> dict[str, Any]:
    match kind:
        case Plain(schema):
            return dict(schema)
        case Ref(name):
            return {"$ref": f"#/$defs/{name}"}
        case ListOf(item, most):
            many = {} if most is None else {"maxItems": most}
            return {"type": "array", "items": _kind(item), **many}
        case MapOf(value):
            return {"type": "object", "additionalProperties": _kind(value)}
        case OneOf(kinds):
            return {"anyOf": [_kind(each) for each in kinds]}


def _references(types: Mapping[str, Type], name: str, version: str) -> Iterator[str]:
    match _type(types, name, version):
        case ObjectType() as shape:
            for field in fields_of(types, shape, version).values():
                yield from _referred(field.kind)
        case Choice(alternatives=alternatives):
            yield from (each.name for each in alternatives if each.since <= version <= each.until)
        case Alias(kind=kind):
            yield from _referred(kind)


def _referred(kind: Kind) -> Iterator[str]:
    match kind:
        case Plain():
            pass
        case Ref(name):
            yield name
        case ListOf(item):
            yield from _referred(item)
        case MapOf(value):
            yield from _referred(value)
        case OneOf(kinds):
            for each in kinds:
                yield from _referred(each)
