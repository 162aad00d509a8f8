"""Transforms of a root that a provider does not support."""

from typing import Any

import pytest
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.transforms.root import transform_root
from sidecheck_server.core.errors import ErrorReason, RequestError
from support.core_conversion import ALL, LossSummary, read, reported, without, written

COMBINED = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const", "if"})
STRICT_ROOT = Subset(keywords=ALL, not_at_root=COMBINED, properties_at_root=True)
OBJECT = {"type": "object"}
EMPTY = {"type": "object", "properties": {}}
STRING = {"type": "string"}
A, B = {"properties": {"a": STRING}}, {"properties": {"b": STRING}}
TYPED = ("/in", "type", "rewritten", "equivalent")
WRAPPED = ("/in", "", "encoded", "equivalent")


def rewritten(keyword: str) -> LossSummary:
    return ("/in", keyword, "rewritten", "equivalent")


def described(keyword: str, pointer: str = "/in") -> LossSummary:
    return (pointer, keyword, "described", "widened")


def wrapper(inner: Any) -> Any:
    return {"type": "object", "properties": {"input": inner}, "required": ["input"]}


CASES: list[tuple[str, Subset, Any, Any, list[LossSummary]]] = [
    ("nothing to do", Subset(), {**OBJECT, "anyOf": [A, B]}, {**OBJECT, "anyOf": [A, B]}, []),
    ("true", Subset(), True, OBJECT, [TYPED]),
    ("no members", STRICT_ROOT, OBJECT, EMPTY, []),
    ("a type that is missing", STRICT_ROOT, A, {**OBJECT, **A}, [TYPED]),
    ("types", STRICT_ROOT, {"type": ["null", "object"]}, EMPTY, [TYPED]),
    (
        "allOf, merged",
        STRICT_ROOT,
        {**OBJECT, "allOf": [A, {"required": ["a"]}]},
        {**OBJECT, **A, "required": ["a"]},
        [rewritten("allOf")],
    ),
    (
        "allOf with conditions that cannot be merged",
        STRICT_ROOT,
        {
            **OBJECT,
            "allOf": [
                A,
                {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
                {"anyOf": [{"required": ["c"]}, {"minProperties": 2}]},
            ],
        },
        {
            **OBJECT,
            **A,
            "description": '(also like {"anyOf": [{"required": ["c"]}, {"minProperties": 2}]};'
            ' like one of {"required": ["a"]} or {"required": ["b"]})',
        },
        [described("anyOf"), described("allOf", "/in/allOf/2")],
    ),
    (
        "anyOf of conditions",
        STRICT_ROOT,
        {**OBJECT, **A, "anyOf": [{"required": ["a"]}, {"not": {"required": ["b"]}}]},
        {
            **OBJECT,
            **A,
            "description": '(like one of {"required": ["a"]} or {"not": {"required": ["b"]}})',
        },
        [described("anyOf")],
    ),
    (
        "anyOf of forms",
        STRICT_ROOT,
        {**OBJECT, "title": "T", "anyOf": [A, B]},
        wrapper({**OBJECT, "title": "T", "anyOf": [A, B]}),
        [WRAPPED],
    ),
    (
        "oneOf where anyOf would have to stand for it",
        without("oneOf", not_at_root=frozenset({"anyOf"})),
        {**OBJECT, "oneOf": [A, B]},
        wrapper({**OBJECT, "oneOf": [A, B]}),
        [WRAPPED],
    ),
    (
        "anyOf that is supported nowhere",
        without("anyOf", not_at_root=COMBINED),
        {**OBJECT, "anyOf": [A, B]},
        {
            **OBJECT,
            "description": '(like one of {"properties": {"a": {"type": "string"}}}'
            ' or {"properties": {"b": {"type": "string"}}})',
        },
        [described("anyOf")],
    ),
    (
        "oneOf of one form",
        STRICT_ROOT,
        {**OBJECT, "oneOf": [A]},
        {**OBJECT, **A},
        [rewritten("oneOf")],
    ),
    (
        "not, enum and if",
        STRICT_ROOT,
        {**EMPTY, "not": A, "enum": [{}], "if": A, "then": B},
        {
            **EMPTY,
            "description": '(not like {"properties": {"a": {"type": "string"}}};'
            " always {};"
            ' if {"properties": {"a": {"type": "string"}}},'
            ' then {"properties": {"b": {"type": "string"}}})',
        },
        [described("enum"), described("if"), described("not")],
    ),
    (
        "a condition that evaluates properties",
        STRICT_ROOT,
        {**EMPTY, "if": A, "unevaluatedProperties": False},
        {
            **EMPTY,
            "description": "(no other properties)",
        },
        [("/in", "if", "dropped", "equivalent"), described("unevaluatedProperties")],
    ),
    (
        "a reference",
        STRICT_ROOT,
        {"$ref": "#/$defs/A", "title": "T", "$defs": {"A": {**OBJECT, **A}}},
        {**OBJECT, **A, "title": "T"},
        [rewritten("$ref")],
    ),
    (
        "what references lead to stays as it is",
        STRICT_ROOT,
        {**A, "items": {"$ref": "#"}},
        {
            **OBJECT,
            **A,
            "items": {"$ref": "#/$defs/root"},
            "$defs": {"root": {**A, "items": {"$ref": "#/$defs/root"}}},
        },
        [TYPED],
    ),
]


@pytest.mark.parametrize(
    ("subset", "schema", "expected", "losses"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_transformed(subset: Subset, schema: Any, expected: Any, losses: list[LossSummary]) -> None:
    root, log = read(schema)

    transformed = transform_root(root, subset, log)

    assert written(transformed) == expected
    assert reported(log) == losses
    assert transformed.encoding.wrapped == ("input" if WRAPPED in losses else "")


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string"},
        {"type": ["array", "null"]},
        {"type": "object", "allOf": [{"type": "string"}]},
    ],
)
def test_a_root_that_admits_no_object_is_rejected(schema: Any) -> None:
    """No arguments would be valid."""
    root, log = read(schema)

    with pytest.raises(RequestError) as excinfo:
        transform_root(root, STRICT_ROOT, log)

    assert excinfo.value.reason is ErrorReason.NOT_CONVERTIBLE
    assert excinfo.value.metadata == {"pointer": "/in"}
