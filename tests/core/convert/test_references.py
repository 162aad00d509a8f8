"""References are inlined, cut, or isolated."""

from typing import Any

import pytest
from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.transforms.references import RULES, cut_cycles, inline_references
from sidecheck_server.core.errors import ErrorReason, RequestError
from support.core_conversion import LossSummary, apply_rules, read, reported, without, written

ALONE = Subset(references=References.ALONE)
STRING = {"type": "string"}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
CUT = {"type": "object", "description": "(of the same form as Node)"}


def cut(pointer: str) -> LossSummary:
    return (pointer, "$ref", "described", "widened")


WRITTEN_OUT: list[tuple[str, Any, Any, list[LossSummary]]] = [
    (
        "each has its own",
        {"items": {"$ref": "#/$defs/s"}, "contains": {"$ref": "#/$defs/s"}, "$defs": {"s": STRING}},
        {"items": STRING, "contains": STRING},
        [],
    ),
    (
        "what stands beside it counts first",
        {"items": {"title": "I", "$ref": "#/$defs/s"}, "$defs": {"s": {**STRING, "title": "S"}}},
        {"items": {**STRING, "title": "I"}},
        [],
    ),
    (
        "an assertion beside it",
        {"items": {"minLength": 1, "$ref": "#/$defs/s"}, "$defs": {"s": STRING}},
        {"items": {"minLength": 1, "allOf": [STRING]}},
        [],
    ),
    (
        "one that leads to another",
        {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/s"}, "s": STRING}},
        {"items": STRING},
        [],
    ),
    (
        "one to nothing",
        {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": False}},
        {"items": False},
        [],
    ),
    (
        "one that leads back",
        {"items": {"$ref": "#/$defs/Node"}, "$defs": {"Node": NODE}},
        {
            "items": {
                "type": "object",
                "properties": {
                    "next": {
                        "type": "object",
                        "description": "(of the same form as an item of the whole)",
                    }
                },
            }
        },
        [cut("/in/$defs/Node/properties/next")],
    ),
    (
        "one that leads back to the root",
        {"items": {"$ref": "#"}},
        {"items": {"description": "(of the same form as the whole)"}},
        [cut("/in/items")],
    ),
    (
        "one that leads back to a property",
        {
            "properties": {"tree": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": {"anyOf": [{"items": {"$ref": "#/$defs/Node"}}, NODE]}},
        },
        {
            "properties": {
                "tree": {
                    "anyOf": [
                        {"items": {"description": '(of the same form as "tree")'}},
                        {
                            "type": "object",
                            "properties": {"next": {"description": '(of the same form as "tree")'}},
                        },
                    ]
                }
            }
        },
        [cut("/in/$defs/Node/anyOf/0/items"), cut("/in/$defs/Node/anyOf/1/properties/next")],
    ),
    (
        "one that leads back to a property of a map",
        {
            "properties": {"trees": {"additionalProperties": {"$ref": "#/$defs/Node"}}},
            "$defs": {"Node": NODE},
        },
        {
            "properties": {
                "trees": {
                    "additionalProperties": {
                        "type": "object",
                        "properties": {
                            "next": {
                                "type": "object",
                                "description": '(of the same form as a property of "trees")',
                            }
                        },
                    }
                }
            }
        },
        [cut("/in/$defs/Node/properties/next")],
    ),
]


@pytest.mark.parametrize(
    ("schema", "expected", "losses"),
    [case[1:] for case in WRITTEN_OUT],
    ids=[case[0] for case in WRITTEN_OUT],
)
def test_inline_references(schema: Any, expected: Any, losses: list[LossSummary]) -> None:
    root, log = read(schema)

    tree = inline_references(root, log)

    assert written(tree, Subset(references=References.NOWHERE)) == expected
    assert reported(log) == losses


def test_long_chains_are_cut() -> None:
    definitions: dict[str, Any] = {
        f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(500)
    }
    root, log = read({"items": {"$ref": "#/$defs/d0"}, "$defs": {**definitions, "d500": {}}})

    schema = written(inline_references(root, log), Subset(references=References.NOWHERE))

    depth = 0
    while "items" in schema:
        schema, depth = schema["items"], depth + 1
    assert depth == 101
    assert schema == {"description": "(a d100)"}
    assert reported(log) == [cut("/in/$defs/d99/items")]


def test_exponential_growth_is_rejected() -> None:
    definitions: dict[str, Any] = {
        f"d{n}": {"prefixItems": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)
    }
    root, log = read({"items": {"$ref": "#/$defs/d0"}, "$defs": {**definitions, "d40": {}}})

    with pytest.raises(RequestError) as excinfo:
        inline_references(root, log)

    assert excinfo.value.reason is ErrorReason.LIMIT_EXCEEDED
    assert excinfo.value.metadata == {"bound": "subschemas", "limit": "20000"}


CYCLES: list[tuple[str, Any, Any, list[LossSummary]]] = [
    (
        "none",
        {"items": {"$ref": "#/$defs/s"}, "contains": {"$ref": "#/$defs/s"}, "$defs": {"s": STRING}},
        {"items": {"$ref": "#/$defs/s"}, "contains": {"$ref": "#/$defs/s"}, "$defs": {"s": STRING}},
        [],
    ),
    (
        "one",
        {"items": {"$ref": "#/$defs/Node"}, "$defs": {"Node": NODE}},
        {
            "items": {"$ref": "#/$defs/Node"},
            "$defs": {"Node": {"type": "object", "properties": {"next": CUT}}},
        },
        [cut("/in/$defs/Node/properties/next")],
    ),
    (
        "one that is closed by what stands there",
        {
            "not": {"$ref": "#/properties/a/items"},
            "properties": {
                "a": {"type": "array", "items": {"contains": {"$ref": "#/properties/a"}}}
            },
        },
        {
            "not": {"$ref": "#/$defs/items"},
            "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/items"}}},
            "$defs": {
                "items": {"contains": {"type": "array", "description": "(of the same form as a)"}}
            },
        },
        [cut("/in/properties/a/items/contains")],
    ),
]


@pytest.mark.parametrize(
    ("schema", "expected", "losses"),
    [case[1:] for case in CYCLES],
    ids=[case[0] for case in CYCLES],
)
def test_cut_cycles(schema: Any, expected: Any, losses: list[LossSummary]) -> None:
    root, log = read(schema)

    cut_cycles(root, log)

    assert written(root) == expected
    assert reported(log) == losses


NEIGHBOURS: list[tuple[str, Subset, Any, Any, list[LossSummary]]] = [
    (
        "none",
        ALONE,
        {"items": {"$ref": "#"}},
        {"items": {"$ref": "#"}},
        [],
    ),
    (
        "annotations",
        ALONE,
        {"items": {"$ref": "#", "title": "T", "description": "d"}},
        {"items": {"title": "T", "description": "d", "anyOf": [{"$ref": "#"}]}},
        [("/in/items", "$ref", "rewritten", "equivalent")],
    ),
    (
        "annotations where there is no anyOf",
        without("anyOf", references=References.ALONE),
        {"items": {"$ref": "#", "title": "T"}},
        {"items": {"$ref": "#"}},
        [("/in/items", "title", "dropped", "equivalent")],
    ),
    (
        "assertions that can be merged",
        ALONE,
        {"items": {"$ref": "#/$defs/s", "minLength": 1}, "$defs": {"s": STRING}},
        {"items": {"minLength": 1, "type": "string"}},
        [("/in/items", "$ref", "rewritten", "equivalent")],
    ),
    (
        "assertions that cannot",
        ALONE,
        {"items": {"$ref": "#/$defs/s", "pattern": "a"}, "$defs": {"s": {"pattern": "b"}}},
        {
            "items": {
                "description": '(also like {"pattern": "a"})',
                "anyOf": [{"$ref": "#/$defs/s"}],
            },
            "$defs": {"s": {"pattern": "b"}},
        },
        [("/in/items", "pattern", "described", "widened")],
    ),
    (
        "where they may stand",
        Subset(),
        {"items": {"$ref": "#", "minItems": 1}},
        {"items": {"$ref": "#", "minItems": 1}},
        [],
    ),
]


@pytest.mark.parametrize(
    ("subset", "schema", "expected", "losses"),
    [case[1:] for case in NEIGHBOURS],
    ids=[case[0] for case in NEIGHBOURS],
)
def test_siblings(subset: Subset, schema: Any, expected: Any, losses: list[LossSummary]) -> None:
    assert apply_rules(schema, subset, RULES) == (expected, losses)
