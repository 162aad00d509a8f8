"""What becomes of a root that an API does not take as it is."""

from typing import Any

import pytest
from sidecheck_server.core.convert.apis.api import Subset
from sidecheck_server.core.convert.fitting.roots import at_root
from sidecheck_server.core.errors import ErrorReason, RequestError
from support.core_conversion import ALL, Told, lacking, read, told, written

COMBINED = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const", "if"})
STRICT_ROOT = Subset(keywords=ALL, not_at_root=COMBINED, properties_at_root=True)
OBJECT = {"type": "object"}
EMPTY = {"type": "object", "properties": {}}
STRING = {"type": "string"}
A, B = {"properties": {"a": STRING}}, {"properties": {"b": STRING}}
TYPED = ("/in", "type", "rewritten", "same")
WRAPPED = ("/in", "", "encoded", "same")


def rewritten(keyword: str) -> Told:
    return ("/in", keyword, "rewritten", "same")


def described(keyword: str, pointer: str = "/in") -> Told:
    return (pointer, keyword, "described", "wider")


def wrapper(inner: Any) -> Any:
    return {"type": "object", "properties": {"input": inner}, "required": ["input"]}


CASES: list[tuple[str, Subset, Any, Any, list[Told]]] = [
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
        lacking("oneOf", not_at_root=frozenset({"anyOf"})),
        {**OBJECT, "oneOf": [A, B]},
        wrapper({**OBJECT, "oneOf": [A, B]}),
        [WRAPPED],
    ),
    (
        "anyOf that is taken nowhere",
        lacking("anyOf", not_at_root=COMBINED),
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
        "a condition that evaluates members",
        STRICT_ROOT,
        {**EMPTY, "if": A, "unevaluatedProperties": False},
        {
            **EMPTY,
            "description": "(no other members)",
        },
        [("/in", "if", "dropped", "same"), described("unevaluatedProperties")],
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
def test_fitted(subset: Subset, schema: Any, expected: Any, losses: list[Told]) -> None:
    root, record = read(schema)

    fitted = at_root(root, subset, record)

    assert written(fitted) == expected
    assert told(record) == losses
    assert fitted.undo.wrapped == ("input" if WRAPPED in losses else "")


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string"},
        {"type": ["array", "null"]},
        {"type": "object", "allOf": [{"type": "string"}]},
    ],
)
def test_a_root_without_objects_is_refused(schema: Any) -> None:
    """Nothing that a model could write would be valid."""
    root, record = read(schema)

    with pytest.raises(RequestError) as refusal:
        at_root(root, STRICT_ROOT, record)

    assert refusal.value.reason is ErrorReason.NOT_CONVERTIBLE
    assert refusal.value.metadata == {"pointer": "/in"}
