"""What becomes of combinators that a subset does not take, or could not keep exactly."""

from typing import Any

import pytest
from sidecheck_server.core.convert.apis.api import Subset
from sidecheck_server.core.convert.fitting.combinators import RULES
from support.core_conversion import Told, lacking, ruled

STRING, NULL, INTEGER = {"type": "string"}, {"type": "null"}, {"type": "integer"}
A = {"properties": {"a": STRING}}


def rewritten(keyword: str, direction: str = "same", pointer: str = "/in") -> Told:
    return (pointer, keyword, "rewritten", direction)


def described(keyword: str, pointer: str = "/in") -> Told:
    return (pointer, keyword, "described", "wider")


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

CASES: list[tuple[str, Subset, Any, Any, list[Told]]] = [
    ("all is taken", Subset(), {"allOf": [A], "not": NULL}, {"allOf": [A], "not": NULL}, []),
    (
        "allOf is merged",
        lacking("allOf"),
        {"allOf": [A, {"required": ["a"], "minProperties": 2}], "minProperties": 1},
        {"minProperties": 2, "properties": {"a": STRING}, "required": ["a"]},
        [rewritten("allOf")],
    ),
    (
        "allOf is merged through references",
        lacking("allOf"),
        {"allOf": [{"$ref": "#/$defs/A"}], "title": "T", "$defs": {"A": {**A, "title": "A"}}},
        {"title": "T", "properties": {"a": STRING}},
        [rewritten("allOf")],
    ),
    (
        "of branches that cannot be merged the others are",
        lacking("allOf"),
        {"pattern": "a", "allOf": [{"pattern": "b"}, {"minLength": 1}]},
        {"pattern": "a", "minLength": 1, "description": '(also like {"pattern": "b"})'},
        [described("allOf", "/in/allOf/0")],
    ),
    (
        "unevaluatedProperties sees what is merged",
        lacking("allOf", "unevaluatedProperties"),
        {"allOf": [A], "properties": {"b": NULL}, "unevaluatedProperties": False},
        {"properties": {"b": NULL, "a": STRING}, "additionalProperties": False},
        [rewritten("allOf"), rewritten("unevaluatedProperties")],
    ),
    (
        "unevaluatedProperties beside what may or may not evaluate",
        lacking("unevaluatedProperties"),
        {"anyOf": [A, NULL], "unevaluatedProperties": False},
        {"anyOf": [A, NULL], "description": "(no other members)"},
        [described("unevaluatedProperties")],
    ),
    (
        "unevaluatedItems of which nothing is left",
        lacking("unevaluatedItems"),
        {"items": STRING, "unevaluatedItems": False},
        {"items": STRING},
        [("/in", "unevaluatedItems", "dropped", "same")],
    ),
    (
        "oneOf of different types",
        lacking("oneOf"),
        {"oneOf": [STRING, NULL]},
        {"anyOf": [STRING, NULL]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf of different constants",
        lacking("oneOf"),
        {"oneOf": [{"const": "a"}, {"enum": ["b", 1]}]},
        {"anyOf": [{"const": "a"}, {"enum": ["b", 1]}]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf told apart by a member",
        lacking("oneOf"),
        {"oneOf": [KIND_A, KIND_B]},
        {"anyOf": [KIND_A, KIND_B]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf told apart by a member that may lack",
        lacking("oneOf"),
        {"oneOf": [KIND_A, {**KIND_B, "required": []}]},
        {
            "anyOf": [KIND_A, {**KIND_B, "required": []}],
            "description": "(only one of the alternatives)",
        },
        [rewritten("oneOf", "wider")],
    ),
    (
        "oneOf told apart by which members there must be, and must not",
        lacking("oneOf"),
        {"oneOf": [HAS_A, {**HAS_B, "additionalProperties": False}]},
        {"anyOf": [HAS_A, {**HAS_B, "additionalProperties": False}]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf told apart with what is beside it",
        lacking("oneOf"),
        {"type": "object", "required": ["k"], "oneOf": [IS_A, IS_B]},
        {"type": "object", "required": ["k"], "anyOf": [IS_A, IS_B]},
        [rewritten("oneOf")],
    ),
    (
        "oneOf of objects that may be both",
        lacking("oneOf"),
        {"oneOf": [HAS_A, HAS_B]},
        {"anyOf": [HAS_A, HAS_B], "description": "(only one of the alternatives)"},
        [rewritten("oneOf", "wider")],
    ),
    (
        "oneOf of objects of which a pattern allows more",
        lacking("oneOf"),
        {"oneOf": [HAS_A, MORE_THAN_B]},
        {"anyOf": [HAS_A, MORE_THAN_B], "description": "(only one of the alternatives)"},
        [rewritten("oneOf", "wider")],
    ),
    (
        "oneOf of numbers and integers",
        lacking("oneOf"),
        {"oneOf": [{"type": "number"}, INTEGER]},
        {"anyOf": [{"type": "number"}, INTEGER], "description": "(only one of the alternatives)"},
        [rewritten("oneOf", "wider")],
    ),
    (
        "oneOf that is taken, with a branch that will be widened",
        lacking("minLength"),
        {"oneOf": [{"minLength": 1}, {"maxLength": 5}]},
        {
            "anyOf": [{"minLength": 1}, {"maxLength": 5}],
            "description": "(only one of the alternatives)",
        },
        [rewritten("oneOf", "wider")],
    ),
    (
        "oneOf beside anyOf",
        lacking("oneOf"),
        {"oneOf": [STRING], "anyOf": [NULL]},
        {"anyOf": [NULL], "description": '(like exactly one of {"type": "string"})'},
        [described("oneOf")],
    ),
    (
        "anyOf of one branch",
        lacking("anyOf"),
        {"anyOf": [STRING], "minLength": 1},
        {"minLength": 1, "type": "string"},
        [rewritten("anyOf")],
    ),
    (
        "anyOf of more",
        lacking("anyOf"),
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
        lacking("minLength"),
        {"not": {"$ref": "#/$defs/n"}, "$defs": {"n": {"minLength": 1}}},
        {"description": '(not like {"minLength": 1})'},
        [described("not")],
    ),
    (
        "if, of which then is not taken",
        lacking("then"),
        {"if": STRING, "then": {"minLength": 1}, "else": NULL},
        {
            "description": '(if {"type": "string"}, then {"minLength": 1}, else {"type": "null"})',
        },
        [described("if")],
    ),
    (
        "if without then and else",
        lacking("if"),
        {"if": STRING},
        {},
        [("/in", "if", "dropped", "same")],
    ),
    (
        "contains takes its bounds along",
        lacking("contains"),
        {"contains": STRING, "minContains": 2, "maxContains": 3},
        {"description": '(2 to 3 of the items are like {"type": "string"})'},
        [described("contains")],
    ),
    (
        "dependentRequired",
        lacking("dependentRequired"),
        {"dependentRequired": {"a": ["b", "c"], "d": []}},
        {"description": "(a needs b, c; d needs )"},
        [described("dependentRequired")],
    ),
    (
        "dependentRequired where every member is required",
        Subset(all_required=True),
        {"dependentRequired": {"a": ["b"]}},
        {"description": "(a needs b)"},
        [described("dependentRequired")],
    ),
    (
        "dependentSchemas and propertyNames",
        lacking("dependentSchemas", "propertyNames"),
        {"dependentSchemas": {"a": {"required": ["b"]}}, "propertyNames": {"maxLength": 3}},
        {
            "description": '(names of members are like {"maxLength": 3};'
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
        "anyOf beside members, where objects will be closed",
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
def test_fitted(subset: Subset, schema: Any, expected: Any, losses: list[Told]) -> None:
    assert ruled(schema, subset, RULES) == (expected, losses)


def test_members_with_other_names_do_not_stand_below_not() -> None:
    """Nothing could turn their names back there."""
    schema = {"not": {"required": ["a b"]}}

    assert ruled(schema, Subset(), RULES, {"a b": "a_b"}) == (
        {"description": '(not like {"required": ["a b"]})'},
        [described("not")],
    )
    assert ruled(schema, Subset(), RULES, {"c d": "c_d"}) == (schema, [])
