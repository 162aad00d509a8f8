"""Branches of oneOf that one payload is valid against, and those that look as if."""

import json
from typing import Any

import pytest
from sidecheck_server.core.functions import compile_schema, validate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.portability.check import check_portability
from sidecheck_server.core.portability.one_of_overlap import Overlap, find_overlap
from sidecheck_server.core.schemas.walker import SchemaLocation, walk_schema

TEXT: Any = {"type": "string"}
BUDGET = 4_000_000


def fields(*names: str, required: tuple[str, ...] = (), **properties: Any) -> Any:
    """Return the schema of an object with texts as properties."""
    declared = {**dict.fromkeys(names, TEXT), **properties}
    return {"type": "object", "properties": declared, "required": list(required)}


def shape(kind: Any, **properties: Any) -> Any:
    """Return the schema of an object with the required property `kind`."""
    return fields(required=("kind",), kind=kind, **properties)


OVERLAPS: dict[str, tuple[Any, Overlap]] = {
    "constants that meet": (
        {"oneOf": [{"const": "a"}, {"enum": ["b", "a"]}]},
        Overlap(1, 0, b'"a"'),
    ),
    "enums that meet in a later value": (
        {"oneOf": [{"enum": [1, 2]}, {"enum": [3]}, {"enum": [4, 2.0]}]},
        Overlap(2, 0, b"2"),
    ),
    "optional properties": ({"oneOf": [fields("a"), fields("b")]}, Overlap(1, 0, b"{}")),
    "fewer required properties": (
        {"oneOf": [fields("a", required=("a",)), fields("a", "b", required=("a", "b"))]},
        Overlap(1, 0, b'{"a":"a","b":"a"}'),
    ),
    "discriminators that meet": (
        {"oneOf": [shape({"const": "x"}), shape({"enum": ["y", "x"]})]},
        Overlap(1, 0, b'{"kind":"x"}'),
    ),
    "discriminator that is optional": (
        {"oneOf": [fields(kind={"const": "x"}), fields(kind={"const": "y"})]},
        Overlap(1, 0, b"{}"),
    ),
    "arrays of different items": (
        {"oneOf": [{"type": "array", "items": TEXT}, {"type": "array", "items": {"type": "null"}}]},
        Overlap(1, 0, b"[]"),
    ),
    "ranges that meet": (
        {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 10}]},
        Overlap(1, 0, b"1"),
    ),
    "formats, which assert nothing": (
        {"oneOf": [{"type": "string", "format": name} for name in ("date", "date-time")]},
        Overlap(1, 0, b'"a"'),
    ),
    "references": (
        {
            "oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b%20c"}],
            "$defs": {
                "a": fields(required=("x",), x={"$ref": "#/$defs/long"}),
                "b c": fields("x", required=("x",)),
                "long": {"type": "string", "minLength": 3},
            },
        },
        Overlap(1, 0, b'{"x":"text"}'),
    ),
    "recursion": (
        {
            "properties": {
                "a/b": {"oneOf": [{"$ref": "#"}, fields("c"), {"type": "integer"}]},
            },
            "type": "object",
        },
        Overlap(1, 0, b"{}"),
    ),
    "keywords beside it": (
        {"oneOf": [fields("a"), fields("b")], "required": ["c"]},
        Overlap(1, 0, b'{"c":"a"}'),
    ),
    "draft 7": (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "oneOf": [{"$ref": "#/definitions/a"}, {"type": "array", "maxItems": 1}],
            "definitions": {"a": {"items": [{"type": "string"}], "type": "array"}},
        },
        Overlap(1, 0, b"[]"),
    ),
}

DISTINCT: dict[str, Any] = {
    "types": {"oneOf": [TEXT, {"type": ["integer", "null"]}, {"type": "array"}]},
    "constants": {"oneOf": [{"const": 1}, {"enum": ["1", True]}]},
    "discriminators": {"oneOf": [shape({"const": "x"}), shape({"enum": ["y", "z"]})]},
    "nested discriminators": {
        "oneOf": [fields(required=("in",), **{"in": shape({"const": kind})}) for kind in ("x", "y")]
    },
    "required properties of closed objects": {
        "oneOf": [
            {**fields(name, required=(name,)), "additionalProperties": False} for name in "ab"
        ]
    },
    "required properties": {"oneOf": [fields(name, required=(name,)) for name in "ab"]},
    "combinations of properties": {
        **fields("a", "b"),
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "patterns": {"oneOf": [{"type": "string", "pattern": text} for text in ("^a+$", "^b+$")]},
    "keywords beside it": {"oneOf": [fields("a"), fields("b")], "type": "string"},
    "closed object around them": {
        "oneOf": [fields("a", required=("a",)), fields("a", "b", required=("a",))],
        "unevaluatedProperties": False,
    },
    "lengths": {"oneOf": [{"type": "string", "maxLength": 2}, {"type": "string", "minLength": 3}]},
    "a single branch": {"oneOf": [TEXT]},
}

NOT_SEARCHED: dict[str, Any] = {
    "many branches": {"oneOf": [fields(f"p{index}") for index in range(17)]},
    "identifiers": {"oneOf": [fields("a"), fields("b")], "$id": "https://example.com/a"},
    "reference to elsewhere": {"oneOf": [{"$ref": "https://example.com/a"}, fields("b")]},
    "reference to itself": {"oneOf": [{"$ref": "#"}, fields("b")]},
    "invalid branch": {"oneOf": [{"type": "object", "properties": 5}, fields("b")]},
    "slow pattern": {"oneOf": [{"pattern": r"^(?=(a+)+$)\1"}, {"type": "string", "minLength": 1}]},
    "large schema": {"oneOf": [fields("a"), fields("b")], "description": "d" * (64 << 10)},
}


def location_of(root: Any) -> SchemaLocation:
    """Return the first place of oneOf in *root*."""
    return next(place for place in walk_schema(root, [BUDGET]) if "oneOf" in place.schema)


@pytest.mark.parametrize("case", OVERLAPS)
def test_an_overlap(case: str) -> None:
    """The whole schema rejects the payload, and does not without oneOf."""
    root, overlap = OVERLAPS[case]
    place = location_of(root)

    assert overlap == find_overlap(root, place, [BUDGET], Limits())
    if place.path:
        return
    rest = {name: value for name, value in root.items() if name != "oneOf"}
    verdicts = [
        validate(compile_schema(json.dumps(schema).encode()), overlap.payload)
        for schema in (root, rest)
    ]
    assert ([["oneOf"], []]) == [
        [violation.keyword for violation in verdict.violations] for verdict in verdicts
    ]


@pytest.mark.parametrize("case", [*DISTINCT, *NOT_SEARCHED])
def test_no_overlap(case: str) -> None:
    root = {**DISTINCT, **NOT_SEARCHED}[case]

    assert find_overlap(root, location_of(root), [BUDGET], Limits()) is None


def test_a_spent_budget_ends_the_search() -> None:
    root, _ = OVERLAPS["optional properties"]

    assert find_overlap(root, location_of(root), [1_000], Limits()) is None


def test_the_lint_names_the_branches_and_the_payload() -> None:
    """At the branch, with the remedy."""
    query = {"description": "d", **OVERLAPS["fewer required properties"][0]}
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"q": query}}}
    _findings, lints = check_portability(tool, [], Limits())

    assert [
        (
            "/inputSchema/properties/q/oneOf/1",
            (
                '{"a":"a","b":"a"} is valid against this branch and branch 0 of oneOf, which '
                'rejects that; write "anyOf", or tell the branches apart by a "const"'
            ),
        )
    ] == [(lint.instance_location, lint.message) for lint in lints]
