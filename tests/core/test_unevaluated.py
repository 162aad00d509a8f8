"""Locations evaluated beside ``unevaluated*`` where they do not depend on the payload."""

from typing import Any

import pytest
from sidecheck_server.core.compiler.lowering import (
    EvaluatedProperties,
    evaluated_items,
    evaluated_properties,
)
from sidecheck_server.core.schemas.canonical import CannotLowerError
from support.compiling import D2019, compile_value, evaluate_all, survey_of

AB: dict[str, Any] = {"properties": {"a": {"type": "string"}, "b": True}}

PROPERTIES: dict[str, Any] = {
    "nothing": [{}, EvaluatedProperties((), ())],
    "properties": [AB, EvaluatedProperties(("a", "b"), ())],
    "patterns": [{"patternProperties": {"^x": False}}, EvaluatedProperties((), ("^x",))],
    "those of a branch of allOf": [
        {"allOf": [AB, {"properties": {"c": False}}]},
        EvaluatedProperties(("c", "a", "b"), ()),
    ],
    "those that a reference leads to": [
        {"$ref": "#/$defs/a", "$defs": {"a": AB}},
        EvaluatedProperties(("a", "b"), ()),
    ],
    "not those of not": [{"not": AB}, EvaluatedProperties((), ())],
    "not those of then without if": [{"then": AB}, EvaluatedProperties((), ())],
    "not those of members": [{"items": AB, "$defs": {"a": AB}}, EvaluatedProperties((), ())],
    "all of them": [{"additionalProperties": True}, None],
    "all of them, in a branch": [{"allOf": [{"additionalProperties": False}]}, None],
    "what a branch calls unevaluated": [{"allOf": [{"unevaluatedProperties": True}]}, None],
    "a branch that leads back": [
        {
            "allOf": [{"$ref": "#/$defs/a"}],
            "$defs": {
                "a": {"allOf": [{"$ref": "#/$defs/b"}]},
                "b": {"properties": {"c": {"$ref": "#"}}},
            },
        },
        EvaluatedProperties(("c",), ()),
    ],
}
ITEMS: dict[str, Any] = {
    "nothing": [{}, 0],
    "the first": [{"prefixItems": [True, False]}, 2],
    "the longest": [{"prefixItems": [True], "allOf": [{"prefixItems": [True] * 3}]}, 3],
    "all of them": [{"prefixItems": [True], "items": True}, None],
    "all of them, in a branch": [{"allOf": [{"items": {}}]}, None],
    "what a branch calls unevaluated": [{"allOf": [{"unevaluatedItems": False}]}, None],
    "listed ones in 2019-09": [{"$schema": D2019, "items": [True, True]}, 2],
    "all of them in 2019-09": [{"$schema": D2019, "items": {}}, None],
    "the others in 2019-09": [{"$schema": D2019, "items": [True], "additionalItems": {}}, None],
    "no others in 2019-09": [{"$schema": D2019, "additionalItems": False}, 0],
    "not contains in 2019-09": [{"$schema": D2019, "contains": {}}, 0],
    "not prefixItems in 2019-09": [{"$schema": D2019, "prefixItems": [{}]}, 0],
}
CONDITIONAL: dict[str, Any] = {
    "anyOf": {"anyOf": [True]},
    "oneOf": {"oneOf": [True]},
    "if": {"if": True},
    "dependentSchemas": {"dependentSchemas": {"a": True}},
    "dependencies": {"dependencies": {"a": ["b"]}},
    "in a branch": {"allOf": [{"anyOf": [True]}]},
    "behind a reference": {"$ref": "#/$defs/a", "$defs": {"a": {"if": True}}},
    "a dynamic reference": {
        "$dynamicRef": "#/$defs/m/$defs/b",
        "$ref": "m",
        "$defs": {"m": {"$id": "m", "$dynamicRef": "#a", "$defs": {"b": {"$dynamicAnchor": "a"}}}},
    },
}


def table(cases: dict[str, Any]) -> list[Any]:
    return [pytest.param(*case, id=name) for name, case in cases.items()]


@pytest.mark.parametrize(("siblings", "expected"), table(PROPERTIES))
def test_siblings_evaluate_properties(siblings: Any, expected: EvaluatedProperties | None) -> None:
    """None means all properties."""
    survey = survey_of({"unevaluatedProperties": False, **siblings})
    subschema = next(iter(survey.reached.values()))

    assert expected == evaluated_properties(subschema, survey)


@pytest.mark.parametrize(("siblings", "expected"), table(ITEMS))
def test_evaluated_items_are_a_prefix(siblings: Any, expected: int | None) -> None:
    """The result is their number, or None for all."""
    survey = survey_of({"unevaluatedItems": False, **siblings})
    subschema = next(iter(survey.reached.values()))

    assert expected == evaluated_items(subschema, survey)


@pytest.mark.parametrize(
    "siblings", [pytest.param(case, id=name) for name, case in CONDITIONAL.items()]
)
def test_payload_dependent_evaluation_needs_the_complete_engine(siblings: Any) -> None:
    """Neither keyword is lowered in this case."""
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        compiled = compile_value({keyword: False, **siblings})

        assert compiled.fast is None
        assert (
            keyword in compiled.complete_only_reason
            or "dynamic" in compiled.complete_only_reason.lower()
        )


def test_contains_evaluates_items_since_2020_12() -> None:
    """The evaluated items depend on the payload (2020-12 core, section 10.3.1.3)."""
    schema = {"contains": {"type": "string"}, "unevaluatedItems": {"type": "integer"}}
    survey = survey_of(schema)

    with pytest.raises(CannotLowerError):
        evaluated_items(next(iter(survey.reached.values())), survey)
    assert [True, False] == evaluate_all(schema, [["a", 1], ["a", None]])


@pytest.mark.parametrize(
    ("schema", "payloads", "verdicts"),
    [
        pytest.param(
            {**AB, "unevaluatedProperties": {"type": "integer"}},
            [{"a": "a", "c": 1}, {"c": "a"}, {"a": 1}, []],
            [True, False, False, True],
            id="members",
        ),
        pytest.param(
            {"prefixItems": [{}], "unevaluatedItems": {"type": "integer"}},
            [["a", 1], ["a", "a"], [], {}],
            [True, False, True, True],
            id="items",
        ),
        pytest.param(
            {"allOf": [AB], "unevaluatedProperties": False, "additionalProperties": True},
            [{"c": 1}],
            [True],
            id="nothing is left",
        ),
    ],
)
def test_the_rest_is_evaluated(schema: Any, payloads: list[Any], verdicts: list[bool]) -> None:
    """Both engines agree."""
    assert verdicts == evaluate_all(schema, payloads)
