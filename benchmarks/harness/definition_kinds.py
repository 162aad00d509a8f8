"""Kinds of differences between two definitions of a tool."""

from collections.abc import Iterator
from typing import Any

__all__ = ["differences", "without_titles"]

_SCHEMAS_BY_NAME = ("properties", "$defs", "patternProperties")


def differences(theirs: dict[str, Any], ours: dict[str, Any]) -> set[str]:
    """Return the kinds of differences between a peer's definition and Sidecheck's."""
    return set(_tool_differences(theirs, ours))


def _tool_differences(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    if theirs.get("description", "").strip() != ours.get("description", "").strip():
        yield "description of the tool"
    if (theirs.get("annotations") or {}) != (ours.get("annotations") or {}):
        yield "annotations"
    yield from _input_differences(theirs["inputSchema"], ours["inputSchema"])
    yield from _output_differences(theirs.get("outputSchema"), ours.get("outputSchema"))


def _input_differences(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    if _titles(theirs) != _titles(ours):
        yield "titles"
    theirs, ours = without_titles(theirs), without_titles(ours)
    if theirs.get("additionalProperties", True) != ours.get("additionalProperties", True):
        yield "closed root"
    our_properties, their_properties = ours.get("properties", {}), theirs.get("properties", {})
    if set(our_properties) != set(their_properties):
        yield "parameters"
    shared = [name for name in our_properties if name in their_properties]
    if {*theirs.get("required", ())} & {*shared} != {*ours.get("required", ())} & {*shared}:
        yield "required"
    if theirs.get("$defs", {}) != ours.get("$defs", {}):
        yield "definitions"
    for name in shared:
        yield from _property_differences(their_properties[name], our_properties[name])


def _property_differences(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    if theirs.get("description") != ours.get("description"):
        yield "descriptions of parameters"
    if theirs.get("default", ...) != ours.get("default", ...):
        yield "defaults"
    if _type_keywords(theirs) != _type_keywords(ours):
        yield "types"


def _type_keywords(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        keyword: value
        for keyword, value in schema.items()
        if keyword not in {"description", "default"}
    }


def _output_differences(theirs: Any, ours: Any) -> Iterator[str]:
    if theirs is None or ours is None:
        if theirs is not ours:
            yield "output of one alone"
        return
    theirs = without_titles(theirs)
    if theirs == ours:
        return
    wrapped = list(theirs.get("properties", ())) == ["result"]
    yield "wrapped output" if wrapped and _unwrapped(theirs) == ours else "output"


def _unwrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the only property of *schema*."""
    inner: dict[str, Any] = schema["properties"]["result"]
    definitions = {**schema.get("$defs", {})}
    if list(inner) == ["$ref"]:
        inner = definitions.pop(inner["$ref"].rpartition("/")[2])
    return {**inner, "$defs": definitions} if definitions else inner


def _titles(schema: Any, path: str = "") -> dict[str, str]:
    """Return the titles in *schema*, by location."""
    titles: dict[str, str] = {}
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            titles |= _titles(item, f"{path}/{index}")
    elif isinstance(schema, dict):
        for name, member in schema.items():
            if name == "title" and isinstance(member, str):
                titles[path] = member
            titles |= _titles(member, f"{path}/{name}")
    return titles


def without_titles(schema: Any) -> Any:
    """Return *schema* without titles, but with properties of that name."""
    if isinstance(schema, list):
        return [without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: _value_without_titles(keyword, value)
        for keyword, value in schema.items()
        if keyword != "title" or not isinstance(value, str)
    }


def _value_without_titles(keyword: str, value: Any) -> Any:
    if keyword in _SCHEMAS_BY_NAME and isinstance(value, dict):
        return {name: without_titles(schema) for name, schema in value.items()}
    if keyword in {"const", "default", "enum", "examples"}:
        return value
    return without_titles(value)
