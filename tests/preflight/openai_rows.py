"""Pairs of schemas for OpenAI: a valid one, and one that violates a rule."""

from typing import Any

from preflight.tools import TEXT, closed, having, listed, nested

__all__ = ["ROWS"]

_RECURSIVE = closed(next={"anyOf": [{"$ref": "#"}, {"type": "null"}]})

# API, strict, valid schema, invalid schema, and the fault.
ROWS: list[tuple[str, bool, Any, Any, str]] = [
    ("openai-chat", False, having(), {"type": "object"}, "object schema missing properties"),
    ("openai-chat", False, having(), {"properties": {}}, "schema must have type"),
    ("openai-chat", False, having(), {**having(), "type": ["object"]}, "schema must have type"),
    ("openai-chat", False, having(), None, "the schema is not an object"),
    *(
        ("openai-chat", False, having(a={name: value}), {**having(), name: value}, f"{name!r} at")
        for name, value in (
            *(("anyOf", [{}]), ("oneOf", [{}]), ("allOf", [{}])),
            *(("not", {}), ("enum", [{}]), ("const", {})),
        )
    ),
    (
        "openai-chat",
        False,
        having(a=listed(TEXT)),
        having(a={"type": ["array", "null"]}),
        "/properties/a: array schema missing items",
    ),
    (
        "openai-responses",
        False,
        having(type=TEXT),
        having(type="object"),
        "it is invalid against its meta-schema",
    ),
    ("openai-chat", False, having(required=TEXT), having(a={"required": True}), "it is invalid"),
    (
        "openai-chat",
        False,
        having(a={"pattern": "^a$"}),
        having(a={"pattern": "\\p{L}"}),
        "/properties/a: '\\\\p{L}' is not a 'regex'",
    ),
    (
        "openai-chat",
        False,
        having(a={"patternProperties": {"^a": {}}}),
        having(a={"patternProperties": {"(?<a>b)": {}}}),
        "/properties/a: '(?<a>b)' is not a 'regex'",
    ),
    (
        "mistral",
        False,
        {**having(a={"$ref": "#/$defs/a~1b"}), "$defs": {"a/b": TEXT}},
        having(a={"$ref": "#/$defs/a"}),
        "/properties/a: '#/$defs/a' is unresolved",
    ),
    (
        "mistral",
        False,
        having(a={"$ref": "#"}),
        having(a={"$ref": "http://x"}),
        "/properties/a: 'http://x' is unresolved",
    ),
    # Data are not schemas.
    (
        "openai-chat",
        True,
        closed(a={"const": {"default": 1, "$ref": "x"}}),
        closed(a={"default": 1, "type": "string"}),
        "/properties/a: 'default' is not supported",
    ),
    (
        "openai-chat",
        True,
        closed(minLength=TEXT),
        closed(a={**TEXT, "minLength": 1}),
        "/properties/a: 'minLength' is not supported",
    ),
    ("openai-chat", True, closed(a={"anyOf": [TEXT]}), closed(a={}), "/properties/a: has no type"),
    ("openai-chat", True, closed(a=TEXT), closed(a=True), "/properties/a: is true or false"),
    ("openai-chat", True, closed(), having(), "/: is not closed"),
    (
        "openai-chat",
        True,
        closed(a=closed()),
        closed(a={"type": ["object", "null"], "properties": {}}),
        "/properties/a: is not closed",
    ),
    (
        "openai-responses",
        True,
        closed(a=TEXT),
        {**closed(a=TEXT), "required": []},
        "/: ['a'] are not required",
    ),
    (
        "openai-chat",
        True,
        closed(a=TEXT),
        {**closed(a=TEXT), "required": ["a", "b"]},
        "/: 'b' is required and not declared",
    ),
    (
        "openai-chat",
        True,
        closed(a={**TEXT, "format": "uuid"}),
        closed(a={**TEXT, "format": "uri"}),
        "/properties/a: 'uri' is not a valid format",
    ),
    (
        "openai-chat",
        True,
        _RECURSIVE,
        closed(a={"$ref": "#", "description": "x"}),
        "/properties/a: $ref cannot have",
    ),
    (
        "openai-chat",
        True,
        closed(a={**TEXT, "pattern": "(?:a|b)"}),
        closed(a={**TEXT, "pattern": "a(?=b)"}),
        "/properties/a: 'a(?=b)' looks",
    ),
    (
        "openai-chat",
        True,
        closed(a={"anyOf": [closed(a={"const": "x"}), closed(a={"const": "y"})]}),
        closed(a={"anyOf": [closed(a=TEXT), closed(a=TEXT, b=TEXT)]}),
        "/properties/a: objects in anyOf share",
    ),
    ("openai-chat", True, nested(10), nested(11), "11 levels, more than 10"),
    (
        "openai-chat",
        True,
        closed(**{f"a{index}": TEXT for index in range(5000)}),
        closed(**{f"a{index}": TEXT for index in range(5001)}),
        "5,001 properties, more than 5,000",
    ),
    (
        "openai-chat",
        True,
        closed(a={"enum": list(range(1000))}),
        closed(a={"enum": list(range(500))}, b={"enum": list(range(501))}),
        "1,001 values of enums, more than 1,000",
    ),
    (
        "openai-chat",
        True,
        closed(a={"const": "x" * 119_999}),
        closed(a={"const": "x" * 120_000}),
        "120,001 characters of names and values",
    ),
    (
        "openai-chat",
        True,
        closed(a={"enum": [f"{index:0100}" for index in range(250)]}),
        closed(a={"enum": [f"{index:0100}" for index in range(251)]}),
        "an enum has more than 15,000 characters",
    ),
]
