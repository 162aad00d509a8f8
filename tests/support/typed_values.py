"""Valid values and mutations of protocol types, generated from their schemas."""

import copy
import random
from collections.abc import Iterator
from typing import Any

__all__ = ["mutations", "variants"]

_DEEPEST = 7
_MOST = 24
_WRONG: tuple[Any, ...] = (
    None,
    0,
    1.5,
    -1,
    "",
    "zz",
    "text",
    True,
    [],
    {},
    [0],
    ["zz"],
    {"x": None},
)
_SIMPLE = {
    "string": "word",
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "null": None,
}


def variants(schema: dict[str, Any], definitions: dict[str, Any], depth: int = 0) -> list[Any]:
    """Return valid values of *schema*: every alternative and property, if shallow."""
    if "$ref" in schema:
        target = definitions[schema["$ref"].rsplit("/", 1)[1]]
        return variants(target, definitions, depth)
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return [schema["enum"][0]]
    if "anyOf" in schema:
        inner = [variants(branch, definitions, depth) for branch in schema["anyOf"]]
        # The first value of each alternative, then the others.
        return (
            [valid_and_invalid[0] for valid_and_invalid in inner]
            + [v for valid_and_invalid in inner for v in valid_and_invalid[1:]]
        )[:_MOST]
    types = schema.get("type")
    if types is None:
        return ["anything", None, [1.5, None]]
    if isinstance(types, list):
        singles = ({**schema, "type": type_} for type_ in types)
        return [value for single in singles for value in variants(single, definitions, depth)]
    if types == "object":
        return _objects(schema, definitions, depth)
    if types == "array":
        items = variants(schema.get("items", {}), definitions, depth + 1)
        return [[items[0]], items[:4], []]
    return [_SIMPLE[types]]


def _objects(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> list[Any]:
    required = schema.get("required", ())
    members = {
        name: variants(property_schema, definitions, depth + 1)
        for name, property_schema in schema.get("properties", {}).items()
        if depth < _DEEPEST or name in required
    }
    additional = schema.get("additionalProperties", {})
    if additional is not False and depth < _DEEPEST:
        kind = additional if isinstance(additional, dict) else {}
        members["some-other"] = variants(kind, definitions, depth + 1)
    whole = {name: values[0] for name, values in members.items()}
    least = {name: whole[name] for name in required}
    alternatives = [
        {**whole, name: value} for name, values in members.items() for value in values[1:]
    ]
    return [whole, least, *alternatives][:_MOST]


def mutations(value: Any, rng: random.Random, most: int) -> Iterator[Any]:
    """Yield up to *most* values that differ from *value* in one place."""
    mutated = list(_mutations(value, rng))
    yield from mutated if len(mutated) <= most else rng.sample(mutated, most)


def _mutations(value: Any, rng: random.Random) -> Iterator[Any]:
    for path in _paths(value):
        if not path:
            yield from rng.sample(_WRONG, 3)
            continue
        *parent_path, key = path
        missing = copy.deepcopy(value)
        del _at(missing, parent_path)[key]
        yield missing
        for replacement in (None, *rng.sample(_WRONG, 3)):
            changed = copy.deepcopy(value)
            _at(changed, parent_path)[key] = replacement
            yield changed
    for path in _paths(value):
        grown = copy.deepcopy(value)
        here = _at(grown, path)
        if isinstance(here, dict):
            here[rng.choice(("x-more", "type", "text", "blob", "mode"))] = rng.choice(_WRONG)
            yield grown
        elif isinstance(here, list):
            here.append(rng.choice(_WRONG))
            yield grown


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    steps: Any = ()
    if isinstance(value, dict):
        steps = value.items()
    elif isinstance(value, list):
        steps = enumerate(value)
    for step, inner in steps:
        yield from _paths(inner, (*path, step))


def _at(value: Any, path: Any) -> Any:
    for step in path:
        value = value[step]
    return value
