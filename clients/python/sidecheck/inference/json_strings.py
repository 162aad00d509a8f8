"""Decoding of strings with the JSON text of an object or array.

A string is decoded only if the schema requires an object or array, as the service does with
``Coercion.JSON_STRINGS``.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from sidecheck.json_copies import copy_json
from sidecheck.pointers import as_pointer
from sidecheck.values.verdict import Change
from sidecheck.wrapping import resolve_local

__all__ = ["Path", "change_of", "decode_container", "replace_at", "value_at"]

#: Property names and indexes from the root to a value.
Path: TypeAlias = tuple[str | int, ...]

_DECODED: Final = "JSON_STRING_DECODED"
#: Maximum references and unions to a subschema, which bounds recursive schemas.
_MAX_STEPS: Final = 64
_UNIONS: Final = ("anyOf", "oneOf", "allOf")


def decode_container(text: str) -> Any:
    """Return the object or array in the JSON text *text*, or None.

    Ambiguous JSON, such as duplicate keys, is None as well.
    """
    if not text.lstrip(" \t\r\n").startswith(("{", "[")):
        return None
    try:
        decoded = json.loads(text, object_pairs_hook=_reject_duplicates)
        return copy_json({"": decoded}, "")[""]
    except (ValueError, RecursionError):
        return None


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    properties = dict(pairs)
    if len(properties) != len(pairs):
        raise ValueError("duplicate keys")
    return properties


def change_of(schema: Mapping[str, Any], path: Path, container: Any) -> Change:
    """Return the change that replaced a string at *path* by *container*."""
    kind, noun = ("object", "an object") if isinstance(container, dict) else ("array", "an array")
    locations = _type_locations(schema, schema, path, kind, (), _MAX_STEPS)
    return Change(
        instance_location=as_pointer(path),
        code=_DECODED,
        keyword_location=as_pointer(next(locations, ())),
        message=f"decoded a string that holds the JSON text of {noun}",
    )


def _type_locations(
    root: Mapping[str, Any], schema: Any, path: Path, kind: str, here: Path, steps: int
) -> Iterator[Path]:
    """Yield the evaluation paths of ``type`` that require *kind* at *path*."""
    if not isinstance(schema, Mapping) or not steps:
        return
    if not path and kind in _types(schema):
        yield (*here, "type")
    if path:
        for name, subschema in _subschemas(schema, path[0]):
            yield from _type_locations(root, subschema, path[1:], kind, (*here, *name), steps)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = resolve_local(reference, root)
        yield from _type_locations(root, target, path, kind, (*here, "$ref"), steps - 1)
    for keyword in _UNIONS:
        for index, branch in enumerate(schema.get(keyword, ())):
            yield from _type_locations(root, branch, path, kind, (*here, keyword, index), steps - 1)


def _types(schema: Mapping[str, Any]) -> list[Any]:
    types = schema.get("type")
    return types if isinstance(types, list) else [types]


def _subschemas(schema: Mapping[str, Any], step: str | int) -> Iterator[tuple[Path, Any]]:
    """Yield the subschemas for the property or item *step*, with locations."""
    if isinstance(step, int):
        items = schema.get("prefixItems", ())
        if step < len(items):
            yield ("prefixItems", step), items[step]
        else:
            yield ("items",), schema.get("items")
        return
    properties = schema.get("properties", {})
    if step in properties:
        yield ("properties", step), properties[step]
    else:
        yield ("additionalProperties",), schema.get("additionalProperties")


def value_at(payload: Any, path: Path) -> Any:
    """Return the value at *path*."""
    for step in path:
        payload = payload[step]
    return payload


def replace_at(value: Any, path: Path, leaf: Any) -> Any:
    """Return a copy of *value* with *leaf* at *path*."""
    if not path:
        return leaf
    copy = value.copy()
    copy[path[0]] = replace_at(value[path[0]], path[1:], leaf)
    return copy
