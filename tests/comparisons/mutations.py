"""Changes that authors make to the input schemas of tools."""

import copy
from collections.abc import Callable, Iterator, Mapping
from random import Random
from types import MappingProxyType
from typing import Any

__all__ = ["MUTATIONS", "mutate"]

_Schema = dict[str, Any]
_Mutation = Callable[[_Schema, Random], bool]


def mutate(schema: _Schema, name: str, random: Random) -> _Schema | None:
    """Return *schema* with the mutation *name*, or None if that does not apply to it."""
    mutated = copy.deepcopy(schema)
    return mutated if MUTATIONS[name](mutated, random) else None


def _properties(schema: _Schema) -> dict[str, _Schema]:
    properties = schema.get("properties", {})
    return {name: value for name, value in properties.items() if isinstance(value, dict)}


def _optional(schema: _Schema) -> list[str]:
    return [name for name in _properties(schema) if name not in schema.get("required", [])]


def _choose(schema: _Schema, random: Random, fits: Callable[[_Schema], bool]) -> _Schema | None:
    fitting = [value for value in _properties(schema).values() if fits(value)]
    return random.choice(fitting) if fitting else None


def _of_type(*types: str) -> Callable[[_Schema], bool]:
    return lambda value: value.get("type") in types and not {"enum", "const"} & value.keys()


def _add_optional(schema: _Schema, _: Random) -> bool:
    schema.setdefault("properties", {})["added_option"] = {"type": "integer"}
    return True


def _add_required(schema: _Schema, _: Random) -> bool:
    schema.setdefault("properties", {})["added_argument"] = {"type": "string"}
    schema["required"] = [*schema.get("required", []), "added_argument"]
    return True


def _require(schema: _Schema, random: Random) -> bool:
    names = _optional(schema)
    if names:
        schema["required"] = [*schema.get("required", []), random.choice(names)]
    return bool(names)


def _drop_required(schema: _Schema, _: Random) -> bool:
    required = schema.get("required")
    if required:
        schema["required"] = required[:-1]
    return bool(required)


def _remove_optional(schema: _Schema, random: Random) -> bool:
    names = _optional(schema)
    if names:
        del schema["properties"][random.choice(names)]
    return bool(names)


def _close(schema: _Schema, _: Random) -> bool:
    applies = "additionalProperties" not in schema
    schema["additionalProperties"] = False
    return applies


def _narrow_enum(schema: _Schema, random: Random) -> bool:
    chosen = _choose(schema, random, lambda value: len(value.get("enum", ())) > 1)
    if chosen is not None:
        chosen["enum"] = chosen["enum"][:-1]
    return chosen is not None


def _widen_enum(schema: _Schema, random: Random) -> bool:
    chosen = _choose(schema, random, lambda value: bool(value.get("enum")))
    if chosen is not None:
        chosen["enum"] = [*chosen["enum"], "an added value"]
    return chosen is not None


def _make_nullable(schema: _Schema, random: Random) -> bool:
    chosen = _choose(schema, random, _of_type("string", "integer", "number", "boolean", "array"))
    if chosen is not None:
        chosen["type"] = [chosen["type"], "null"]
    return chosen is not None


def _make_nullable_by_any_of(schema: _Schema, random: Random) -> bool:
    chosen = _choose(schema, random, _of_type("string", "integer"))
    if chosen is not None:
        before = dict(chosen)
        chosen.clear()
        chosen["anyOf"] = [before, {"type": "null"}]
    return chosen is not None


def _add_option_below(schema: _Schema, random: Random) -> bool:
    nested = [
        subschema
        for subschema in _objects(schema)
        if subschema is not schema and _properties(subschema)
    ]
    return bool(nested) and _add_optional(random.choice(nested), random)


def _objects(value: Any) -> Iterator[_Schema]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)


def _setting(fits: Callable[[_Schema], bool], **keywords: Any) -> _Mutation:
    """Return the mutation that sets *keywords* of a property that fits."""

    def apply(schema: _Schema, random: Random) -> bool:
        chosen = _choose(schema, random, fits)
        if chosen is not None:
            chosen.update(keywords)
        return chosen is not None

    return apply


def _without(keyword: str, *types: str) -> Callable[[_Schema], bool]:
    return lambda value: _of_type(*types)(value) and keyword not in value


MUTATIONS: Mapping[str, _Mutation] = MappingProxyType(
    {
        "add an optional property": _add_optional,
        "add an optional property below": _add_option_below,
        "add a required property": _add_required,
        "require a property": _require,
        "drop a requirement": _drop_required,
        "remove an optional property": _remove_optional,
        "close the object": _close,
        "narrow an enum": _narrow_enum,
        "widen an enum": _widen_enum,
        "make nullable": _make_nullable,
        "make nullable by anyOf": _make_nullable_by_any_of,
        "change a type": _setting(_of_type("string", "integer", "number"), type="boolean"),
        "integer to number": _setting(_of_type("integer"), type="number"),
        "number to integer": _setting(_of_type("number"), type="integer"),
        "add maxLength": _setting(_without("maxLength", "string"), maxLength=5),
        "add minLength": _setting(_without("minLength", "string"), minLength=2),
        "add a maximum": _setting(_without("maximum", "integer", "number"), maximum=10_000),
        "add a pattern": _setting(_without("pattern", "string"), pattern="^[a-z]+$"),
        "add maxItems": _setting(_without("maxItems", "array"), maxItems=2),
        "change a description": _setting(lambda _: True, description="Another text."),
        "change a default": _setting(lambda value: "default" in value, default="another"),
    }
)
"""The mutations by name. Each changes a schema in place, and returns whether it applies."""
