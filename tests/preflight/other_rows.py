"""Pairs of schemas for other APIs: a valid one, and one that violates a rule."""

from typing import Any

from preflight.tools import TEXT, closed, having, listed

__all__ = ["LETTERS", "ROWS", "capital"]

LETTERS = {"type": "STRING"}


def capital(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with *properties*, for Gemini."""
    return {"type": "OBJECT", "properties": properties}


_TREE = {**having(next={"$ref": "#"}), "additionalProperties": False}

# API, strict, valid schema, invalid schema, and the fault.
ROWS: list[tuple[str, bool, Any, Any, str]] = [
    ("anthropic", False, having(), {**having(), "anyOf": [{}]}, "'anyOf' at the top level"),
    (
        "anthropic",
        False,
        having(**{"a.b": TEXT}),
        having(a=having(**{"$a": TEXT})),
        "/properties/a: the name '$a' is not",
    ),
    ("anthropic", True, closed(a=TEXT), having(a=TEXT), "/: is not closed"),
    (
        "anthropic",
        True,
        closed(a={**listed(TEXT), "minItems": 1}),
        closed(a={**listed(TEXT), "minItems": 2}),
        "/properties/a: minItems is 2",
    ),
    (
        "anthropic",
        True,
        closed(a={"type": "integer"}),
        closed(a={"type": "integer", "minimum": 1}),
        "/properties/a: 'minimum' is not supported",
    ),
    ("anthropic", True, closed(a=TEXT), _TREE, "it is recursive"),
    ("bedrock", True, closed(a=TEXT), _TREE, "it is recursive"),
    ("bedrock", False, having(), {**having(), "$defs": {}}, "'$defs' at the top level"),
    ("bedrock", False, having(a=TEXT), having(**{"a b": TEXT}), "/: the name 'a b' is not"),
    ("mistral", True, {**having(a=TEXT), "additionalProperties": False}, having(), "/: is not"),
    ("gemini", False, capital(a=LETTERS), {"type": "object", **having(a=LETTERS)}, "schema must"),
    ("gemini", False, capital(a=LETTERS), capital(a=TEXT), "/properties/a: the type 'string' is"),
    (
        "gemini",
        False,
        capital(a={**LETTERS, "nullable": True}),
        capital(a={**LETTERS, "const": "a"}),
        "/properties/a: 'const' is not supported",
    ),
    (
        "gemini",
        False,
        capital(a=capital(b=LETTERS)),
        capital(a={"type": "OBJECT"}),
        "/properties/a: properties should be non-empty",
    ),
    (
        "gemini",
        False,
        capital(a={**LETTERS, "enum": ["a"]}),
        capital(a={**LETTERS, "enum": ["a", ""]}),
        "/properties/a: enum has what is not a text, or empty",
    ),
    (
        "gemini",
        False,
        capital(a={"type": "INTEGER"}),
        capital(a={"type": "INTEGER", "enum": ["1"]}),
        "/properties/a: enum only allowed for STRING type",
    ),
    (
        "gemini",
        False,
        capital(a={"anyOf": [{**LETTERS, "description": "x", "nullable": True}]}),
        capital(a={"anyOf": [LETTERS], "nullable": True}),
        "/properties/a: ['nullable'] beside any_of",
    ),
    (
        "gemini",
        False,
        {**capital(a=LETTERS), "required": ["a"]},
        {**capital(a=LETTERS), "required": ["b"]},
        "/: 'b' is required and not declared",
    ),
    (
        "gemini",
        False,
        capital(a1=LETTERS),
        capital(**{"a-b": LETTERS}),
        "/: the name 'a-b' is not",
    ),
    ("gemini", False, capital(a=LETTERS), capital(a={}), "/properties/a: has no type"),
    (
        "gemini",
        False,
        capital(a={"type": "ARRAY", "items": LETTERS}),
        capital(a={"type": "ARRAY"}),
        "/properties/a: array schema missing items",
    ),
    (
        "gemini-json",
        False,
        having(a={"prefixItems": [TEXT]}),
        {**having(), "$schema": "https://json-schema.org/draft/2020-12/schema"},
        "/: '$schema' is not supported",
    ),
    (
        "gemini-json",
        False,
        having(a={"$ref": "#/$defs/b", "$anchor": "c"}) | {"$defs": {"b": TEXT}},
        having(a={"$ref": "#/$defs/b", "title": "B"}) | {"$defs": {"b": TEXT}},
        "/properties/a: $ref cannot have keywords ['title']",
    ),
    (
        "gemini-json",
        False,
        _TREE,
        having(a={"$ref": "#/$defs/b"})
        | {"$defs": {"b": {**having(c={"$ref": "#/$defs/b"}), "required": ["c"]}}},
        "it is recursive",
    ),
    ("ollama", False, having(), {**having(), "description": "x"}, "'description' at the top level"),
    (
        "ollama",
        False,
        having(a={"anyOf": [TEXT]}),
        having(a={"oneOf": [TEXT]}),
        "/properties/a: 'oneOf' is not supported",
    ),
    (
        "ollama",
        False,
        having(a=listed(TEXT)),
        having(a={"type": "array", "items": True}),
        "/properties/a/items: is true or false",
    ),
    (
        "mcp",
        False,
        having(),
        having(a={"type": "object"}),
        "/properties/a: properties should be non-empty",
    ),
    ("mcp", False, having(a=TEXT), closed(a=TEXT), "'additionalProperties' at the top level"),
    (
        "mcp",
        False,
        having(a={"anyOf": [TEXT, {"type": "null"}]}),
        having(a={"type": ["string", "null"]}),
        "/properties/a: has several types",
    ),
    (
        "mcp",
        False,
        having(a={**TEXT, "pattern": "^a$"}),
        having(a={**TEXT, "pattern": "^(?!a)$"}),
        "/properties/a: '^(?!a)$' looks around or back",
    ),
]
