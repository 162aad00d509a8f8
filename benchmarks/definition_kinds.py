"""Kinds of differences between two definitions of a tool."""

from collections.abc import Iterator
from typing import Any

__all__ = ["differences", "without_titles"]

_NAMES = ("properties", "$defs", "patternProperties")


def differences(theirs: dict[str, Any], ours: dict[str, Any]) -> set[str]:
    """Return the kinds of differences between two definitions."""
    return set(_of_tool(theirs, ours))


def _of_tool(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    if theirs.get("description", "").strip() != ours.get("description", "").strip():
        yield "description of the tool"
    if (theirs.get("annotations") or {}) != (ours.get("annotations") or {}):
        yield "annotations"
    yield from _of_input(theirs["inputSchema"], ours["inputSchema"])
    yield from _of_output(theirs.get("outputSchema"), ours.get("outputSchema"))


def _of_input(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    if _titles(theirs) != _titles(ours):
        yield "titles"
    theirs, ours = without_titles(theirs), without_titles(ours)
    if theirs.get("additionalProperties", True) != ours.get("additionalProperties", True):
        yield "closed root"
    mine, other = ours.get("properties", {}), theirs.get("properties", {})
    if set(mine) != set(other):
        yield "parameters"
    shared = [name for name in mine if name in other]
    if {*theirs.get("required", ())} & {*shared} != {*ours.get("required", ())} & {*shared}:
        yield "required"
    if theirs.get("$defs", {}) != ours.get("$defs", {}):
        yield "definitions"
    for name in shared:
        yield from _of_property(other[name], mine[name])


def _of_property(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    if theirs.get("description") != ours.get("description"):
        yield "descriptions of parameters"
    if theirs.get("default", ...) != ours.get("default", ...):
        yield "defaults"
    aside = {"description", "default"}
    if {k: v for k, v in theirs.items() if k not in aside} != {
        k: v for k, v in ours.items() if k not in aside
    }:
        yield "types"


def _of_output(theirs: Any, ours: Any) -> Iterator[str]:
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
    found: dict[str, str] = {}
    if isinstance(schema, list):
        for index, one in enumerate(schema):
            found |= _titles(one, f"{path}/{index}")
    elif isinstance(schema, dict):
        for name, one in schema.items():
            if name == "title" and isinstance(one, str):
                found[path] = one
            found |= _titles(one, f"{path}/{name}")
    return found


def without_titles(schema: Any) -> Any:
    """Return *schema* without titles; a property may have that name."""
    if isinstance(schema, list):
        return [without_titles(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {each: without_titles(inner) for each, inner in one.items()}
        if name in _NAMES and isinstance(one, dict)
        else one
        if name in ("const", "default", "enum", "examples")
        else without_titles(one)
        for name, one in schema.items()
        if name != "title" or not isinstance(one, str)
    }
