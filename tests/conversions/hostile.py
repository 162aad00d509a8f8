"""Hypothesis strategies for small schemas that are hard to convert."""

from typing import Any

from hypothesis import strategies as st

__all__ = ["tools"]

_NAMES = st.sampled_from(("a", "b", "c", "kind", "$ref", "a b", "é", "日本", "p1"))
_TEXTS = st.sampled_from(("", "a", "b", "x-1", "null", "{}"))
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-2, 3), _TEXTS)
_PATTERNS = st.sampled_from(("^a", "b$", "^x-", "^(?!b)"))
_REFERENCES = st.sampled_from(("#", "#/$defs/d", "#/$defs/e~1f")).map(lambda to: {"$ref": to})


def _simple() -> st.SearchStrategy[Any]:
    """Return a strategy for schemas without subschemas."""
    kinds = ("null", "boolean", "integer", "number", "string")
    return st.one_of(
        st.sampled_from(kinds).map(lambda kind: {"type": kind}),
        st.sampled_from(kinds[1:]).map(lambda kind: {"type": [kind, "null"]}),
        st.lists(_SCALARS, min_size=1, max_size=3, unique_by=repr).map(lambda vs: {"enum": vs}),
        _SCALARS.map(lambda value: {"const": value}),
        st.sampled_from(
            (
                {"type": "string", "minLength": 1},
                {"type": "string", "pattern": "^a"},
                {"type": "string", "pattern": "^(?!b)a?"},
                {"type": "string", "enum": ["a", 1]},
                {"type": "integer", "enum": ["a", 1.5]},
                {"not": {}},
                {"enum": []},
                {"type": ["string", "null"], "enum": ["a", "b", None]},
                {"type": "integer", "minimum": 1, "default": 2},
                {"type": "string", "nullable": True},
                {"type": ["string", "null"], "default": None},
                {"type": "object"},
                {"type": "array"},
                {"minLength": 1},
            )
        ),
        st.booleans(),
        st.just({}),
    )


def _objects(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(_NAMES, below, max_size=3)
    return st.fixed_dictionaries(
        {"type": st.sampled_from(("object", "object", ["object", "null"]))},
        optional={
            "properties": properties,
            "required": st.lists(_NAMES, max_size=2, unique=True),
            "additionalProperties": st.one_of(st.booleans(), below),
            "patternProperties": st.dictionaries(_PATTERNS, below, min_size=1, max_size=1),
            "propertyNames": st.sampled_from(({"maxLength": 1}, {"pattern": "^a"})),
            "minProperties": st.integers(0, 2),
            "dependentRequired": st.just({"a": ["b"]}),
            "dependentSchemas": st.fixed_dictionaries({"a": below}),
        },
    )


def _arrays(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={
            "items": below,
            "prefixItems": st.lists(below, min_size=1, max_size=2),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(1, 3),
            "uniqueItems": st.booleans(),
            "contains": below,
        },
    )


def _combined(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    branches = st.lists(below, min_size=1, max_size=3)
    return st.one_of(
        branches.map(lambda schemas: {"anyOf": schemas}),
        branches.map(lambda schemas: {"oneOf": schemas}),
        branches.map(lambda schemas: {"allOf": schemas}),
        below.map(lambda schemas: {"not": schemas}),
        st.tuples(below, below).map(lambda pair: {"if": pair[0], "then": pair[1]}),
        st.tuples(_objects(below), branches).map(lambda pair: {**pair[0], "anyOf": pair[1]}),
        st.tuples(_objects(below), branches).map(lambda pair: {**pair[0], "allOf": pair[1]}),
        st.tuples(below, below).map(_nullable),
    )


def _nullable(pair: tuple[Any, Any]) -> Any:
    return {"anyOf": [pair[0], pair[1], {"type": "null"}]}


def _with_stray_keywords(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for *schemas* beside keywords about values of other types."""
    stray = st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(_NAMES, _simple(), min_size=1, max_size=2),
            "required": st.lists(_NAMES, min_size=1, max_size=2, unique=True),
            "additionalProperties": _simple(),
            "items": _simple(),
            "minItems": st.just(1),
            "minLength": st.just(2),
            "pattern": _PATTERNS,
            "maximum": st.just(1),
        },
    )
    typed = schemas.filter(lambda schema: isinstance(schema, dict) and "type" in schema)
    return st.tuples(stray, typed).map(lambda pair: {**_stray_for(*pair), **pair[1]})


def _stray_for(keywords: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return those of *keywords* that do not apply to the types of *schema*."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    types = ["number" if name == "integer" else name for name in types]
    return {name: value for name, value in keywords.items() if _TYPES[name] not in types}


_TYPES = {
    **dict.fromkeys(("properties", "required", "additionalProperties"), "object"),
    **dict.fromkeys(("items", "minItems"), "array"),
    **dict.fromkeys(("minLength", "pattern"), "string"),
    "maximum": "number",
}

_BELOW = st.recursive(
    st.one_of(_simple(), _simple(), _with_stray_keywords(_simple()), _REFERENCES),
    lambda below: st.one_of(
        _objects(below),
        _arrays(below),
        _with_stray_keywords(st.one_of(_objects(below), _arrays(below))),
        _combined(below),
    ),
    max_leaves=6,
)


@st.composite
def tools(draw: st.DrawFn) -> dict[str, Any]:
    """Return a strategy for tools."""
    root = draw(st.one_of(_objects(_BELOW), _objects(_BELOW), _combined(_objects(_BELOW))))
    root = {**root, "type": "object"}
    root["$defs"] = {"d": draw(_BELOW), "e/f": draw(st.one_of(_simple(), _objects(_BELOW)))}
    return {"name": "find", "inputSchema": root}
