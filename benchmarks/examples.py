"""Payloads generated from a schema, for real tools without recorded calls.

Every property is filled in, by what its schema plainly says; whether the result is valid
is for a validator to say.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["broken", "valid"]

_DEEPEST = 6


def valid(schema: Any) -> Any:
    """Return a payload that is likely to be valid against *schema*."""
    return _example(schema, schema, _DEEPEST)


def broken(payload: Any) -> Iterator[Any]:
    """Yield copies of *payload*, each with one value of a wrong type, the last value first."""
    places = list(_places(payload, ()))
    for place in reversed(places):
        copied = copy.deepcopy(payload)
        holder = copied
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = {"unexpected": [None]}
        yield copied


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _places(member, (*path, name))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _places(item, (*path, index))
    elif path:
        yield path


def _example(schema: Any, root: Any, depth: int) -> Any:
    if not isinstance(schema, dict):
        return "any"
    if "$ref" in schema:
        return _example(_resolved(schema["$ref"], root), root, depth - 1)
    for keyword in ("const", "default"):
        if schema.get(keyword) is not None:
            return schema[keyword]
    if schema.get("enum"):
        return schema["enum"][-1]
    if schema.get("examples"):
        return schema["examples"][0]
    for keyword in ("anyOf", "oneOf", "allOf"):
        if schema.get(keyword):
            branch = {**schema, **schema[keyword][0]}
            if branch.get(keyword) == schema[keyword]:
                del branch[keyword]
            return _example(branch, root, depth)
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    return _OF_TYPE[kind](schema, root, depth)


def _resolved(reference: str, root: Any) -> Any:
    found = root
    for step in reference.lstrip("#").strip("/").split("/"):
        if step:
            found = found[int(step) if isinstance(found, list) else step]
    return found


def _object(schema: Any, root: Any, depth: int) -> Any:
    wanted = schema.get("required", ()) if depth <= 0 else schema.get("properties", {})
    known = schema.get("properties", {})
    return {name: _example(known.get(name), root, depth - 1) for name in wanted}


def _array(schema: Any, root: Any, depth: int) -> Any:
    count = max(schema.get("minItems", 0), 0 if depth <= 0 else 2)
    count = min(count, schema.get("maxItems", count))
    return [_example(schema.get("items"), root, depth - 1) for _ in range(count)]


def _string(schema: Any, _root: Any, _depth: int) -> Any:
    filled = "a text of some words".ljust(schema.get("minLength", 0), "x")
    return filled[: schema.get("maxLength")]


def _integer(schema: Any, _root: Any, _depth: int) -> Any:
    return max(schema.get("minimum", 7), schema.get("exclusiveMinimum", 6) + 1)


def _always(*, value: bool | None) -> Callable[[Any, Any, int], Any]:
    return lambda _schema, _root, _depth: value


_OF_TYPE: dict[str, Callable[[Any, Any, int], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _integer,
    "boolean": _always(value=True),
    "null": _always(value=None),
}
