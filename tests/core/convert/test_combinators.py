"""Transforms of combinators that a subset does not support, or cannot keep exactly."""

from typing import Any

import pytest
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.transforms.combinators import RULES
from support.core_conversion import LossSummary, apply_rules, without

STRING, NULL, INTEGER = {"type": "string"}, {"type": "null"}, {"type": "integer"}
A = {"properties": {"a": STRING}}


def rewritten(keyword: str, direction: str = "equivalent", pointer: str = "/in") -> LossSummary:
    return (pointer, keyword, "rewritten", direction)


def described(keyword: str, pointer: str = "/in") -> LossSummary:
    return (pointer, keyword, "described", "widened")


KIND_A = {"type": "object", "properties": {"k": {"const": "a"}}, "required": ["k"]}
KIND_B = {"type": "object", "properties": {"k": {"enum": ["b", "c"]}}, "required": ["k"]}

IS_A, IS_B = ({"properties": {"k": {"const": value}}} for value in "ab")

HAS_A: Any = {"type": "object", "properties": {"a": STRING}, "required": ["a"]}
HAS_B: Any = {"type": "object", "properties": {"b": STRING}, "required": ["b"]}
MORE_THAN_B: Any = {
    **HAS_B,
    "patternProperties": {"^a": STRING},
    "additionalProperties": False,
}

CASES: list[tuple[str, Subset, Any, Any, list[LossSummary]]] = [
    ("all is taken", Subset(), {"allOf": [A], "not": NULL}, {"allOf": [A], "not": NULL}, []),
    (
        "allOf is merged",
        without("allOf"),
        {"allOf": [A, {"required": ["a"], "minProperties": 2}], "minProperties": 1},
        {"minProperties": 2, "properties": {"a": STRING}, "required": ["a"]},
        [rewritten("allOf")],
    ),
    (
        "allOf is merged through references",
        without("allOf"),
        {"allOf": [{"$ref": "#/$defs/A"}], "title": "T", "$defs": {"A": {**A, "title": "A"}}},
        {"title": "T", "properties": {"a": STRING}},
        [rewritten("allOf")],
    ),
    (
        "of branches that cannot be merged the others are",
        without("allOf"),
        {"pattern": "a", "allOf": [{"pattern": "b"}, {"minLength": 1}]},
        {"pattern": "a", "minLength": 1, "description": '(also like {"pattern": "b"})'},
        [described("allOf", "/in/allOf/0")],
    ),
    (
        "unevaluatedProperties sees what is merged",
        without("allOf", "unevaluatedProperties"),
        {"allOf": [A], "properties": {"b": NULL}, "unevaluatedProperties": False},
        {"properties": {"b": NULL, "a": STRING}, "additionalProperties": False},
        [rewritten("allOf"), rewritten("unevaluatedProperties")],
    ),
    (
        "unevaluatedProperties beside what may or may not evaluate",
        without("unevaluatedProperties"),
        {"anyOf": [A, NULL], "unevaluatedProperties": False},
        {"anyOf": [A, NULL], "description": "(no other properties)"},
        [described("unevaluatedProperties")],
    ),
    (
        "unevaluatedItems of which nothing is left",
        without("unevaluatedItems"),
        {"items": STRING, "unevaluatedItems": False},
        {"items": STRING},
        [("/in", "unevaluatedItems", "dropped", "equivalent")],
    ),
    (
        "oneOf of different types",
        without("oneOf"),
        {"oneOf": [STRING, NULL]},
        {"anyOf": [STRING, NULL]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf of different constants",
        without("oneOf"),
        {"oneOf": [{"const": "a"}, {"enum": ["b", 1]}]},
        {"anyOf": [{"const": "a"}, {"enum": ["b", 1]}]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf distinguished by a property",
        without("oneOf"),
        {"oneOf": [KIND_A, KIND_B]},
        {"anyOf": [KIND_A, KIND_B]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf distinguished by a property that may be missing",
        without("oneOf"),
        {"oneOf": [KIND_A, {**KIND_B, "required": []}]},
        {
            "anyOf": [KIND_A, {**KIND_B, "required": []}],
            "description": "(only one of the alternatives)",
        },
        [rewritten("oneOf", "widened")],
    ),
    (
        "oneOf distinguished by which properties there must be, and must not",
        without("oneOf"),
        {"oneOf": [HAS_A, {**HAS_B, "additionalProperties": False}]},
        {"anyOf": [HAS_A, {**HAS_B, "additionalProperties": False}]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf distinguished with what is beside it",
        without("oneOf"),
        {"type": "object", "required": ["k"], "oneOf": [IS_A, IS_B]},
        {"type": "object", "required": ["k"], "anyOf": [IS_A, IS_B]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf of objects that may be both",
        without("oneOf"),
        {"oneOf": [HAS_A, HAS_B]},
        {"anyOf": [HAS_A, HAS_B], "description": "(only one of the alternatives)"},
        [rewritten("oneOf", "widened")],
    ),
    (
        "oneOf of objects of which a pattern allows more",
        without("oneOf"),
        {"oneOf": [HAS_A, MORE_THAN_B]},
        {"anyOf": [HAS_A, MORE_THAN_B], "description": "(only one of the alternatives)"},
        [rewritten("oneOf", "widened")],
    ),
    (
        "oneOf of numbers and integers",
        without("oneOf"),
        {"oneOf": [{"type": "number"}, INTEGER]},
        {"anyOf": [{"type": "number"}, INTEGER], "description": "(only one of the alternatives)"},
        [rewritten("oneOf", "widened")],
    ),
    (
        "oneOf that is supported, with a branch that will be widened",
        without("minLength"),
        {"oneOf": [{"minLength": 1}, {"maxLength": 5}]},
        {
            "anyOf": [{"minLength": 1}, {"maxLength": 5}],
            "description": "(only one of the alternatives)",
        },
        [rewritten("oneOf", "widened")],
    ),
    (
        "oneOf beside anyOf",
        without("oneOf"),
        {"oneOf": [STRING], "anyOf": [NULL]},
        {"anyOf": [NULL], "description": '(like exactly one of {"type": "string"})'},
        [described("oneOf")],
    ),
    (
        "anyOf of one branch",
        without("anyOf"),
        {"anyOf": [STRING], "minLength": 1},
        {"minLength": 1, "type": "string"},
        [rewritten("anyOf")],
    ),
    (
        "anyOf of more",
        without("anyOf"),
        {"anyOf": [STRING, NULL]},
        {"description": '(like one of {"type": "string"} or {"type": "null"})'},
        [described("anyOf")],
    ),
    (
        "not, exactly kept",
        Subset(),
        {"not": {"$ref": "#/$defs/n"}, "$defs": {"n": NULL}},
        {"not": {"$ref": "#/$defs/n"}, "$defs": {"n": NULL}},
        [],
    ),
    (
        "not, of what will be widened behind a reference",
        without("minLength"),
        {"not": {"$ref": "#/$defs/n"}, "$defs": {"n": {"minLength": 1}}},
        {"description": '(not like {"minLength": 1})'},
        [described("not")],
    ),
    (
        "if, of which then is not supported",
        without("then"),
        {"if": STRING, "then": {"minLength": 1}, "else": NULL},
        {
            "description": '(if {"type": "string"}, then {"minLength": 1}, else {"type": "null"})',
        },
        [described("if")],
    ),
    (
        "if without then and else",
        without("if"),
        {"if": STRING},
        {},
        [("/in", "if", "dropped", "equivalent")],
    ),
    (
        "contains supports its bounds along",
        without("contains"),
        {"contains": STRING, "minContains": 2, "maxContains": 3},
        {"description": '(2 to 3 of the items are like {"type": "string"})'},
        [described("contains")],
    ),
    (
        "dependentRequired",
        without("dependentRequired"),
        {"dependentRequired": {"a": ["b", "c"], "d": []}},
        {"description": "(a needs b, c; d needs )"},
        [described("dependentRequired")],
    ),
    (
        "dependentRequired where every property is required",
        Subset(all_required=True),
        {"dependentRequired": {"a": ["b"]}},
        {"description": "(a needs b)"},
        [described("dependentRequired")],
    ),
    (
        "dependentSchemas and propertyNames",
        without("dependentSchemas", "propertyNames"),
        {"dependentSchemas": {"a": {"required": ["b"]}}, "propertyNames": {"maxLength": 3}},
        {
            "description": '(names of properties are like {"maxLength": 3};'
            ' with a: {"required": ["b"]})'
        },
        [described("dependentSchemas"), described("propertyNames")],
    ),
    (
        "allOf where objects will be closed",
        Subset(closed=True),
        {"allOf": [A], "properties": {"b": NULL}},
        {"properties": {"b": NULL, "a": STRING}},
        [rewritten("allOf")],
    ),
    (
        "anyOf beside properties, where objects will be closed",
        Subset(closed=True),
        {"properties": {"b": NULL}, "anyOf": [A, {"properties": {"c": NULL}}], "title": "T"},
        {
            "title": "T",
            "anyOf": [
                {"properties": {"b": NULL, "a": STRING}},
                {"properties": {"b": NULL, "c": NULL}},
            ],
        },
        [rewritten("anyOf")],
    ),
    (
        "anyOf of conditions, where objects will be closed",
        Subset(closed=True),
        {**A, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {
            **A,
            "description": '(like one of {"required": ["a"]} or {"required": ["b"]})',
        },
        [described("anyOf")],
    ),
]


@pytest.mark.parametrize(
    ("subset", "schema", "expected", "losses"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_transformed(subset: Subset, schema: Any, expected: Any, losses: list[LossSummary]) -> None:
    assert apply_rules(schema, subset, RULES) == (expected, losses)


def test_renamed_properties_are_not_kept_below_not() -> None:
    """No decoder leads there."""
    schema = {"not": {"required": ["a b"]}}

    assert apply_rules(schema, Subset(), RULES, {"a b": "a_b"}) == (
        {"description": '(not like {"required": ["a b"]})'},
        [described("not")],
    )
    assert apply_rules(schema, Subset(), RULES, {"c d": "c_d"}) == (schema, [])
