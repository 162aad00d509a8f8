"""Reference cycles are rejected; recursion that terminates is not."""

from typing import Any

import pytest
from sidecheck_server.core.compiler.admission import find_reference_cycles
from sidecheck_server.core.errors import ErrorReason
from support.compiling import D07, compile_value, evaluate_all, schema_error, survey_of

ROOT = {"$ref": "#"}
DEEPER = {"type": "object", "additionalProperties": ROOT}

ENDLESS: dict[str, Any] = {
    "a reference to itself": [ROOT, ""],
    "through allOf": [{"allOf": [True, ROOT]}, ""],
    "through anyOf": [{"anyOf": [True, ROOT]}, ""],
    "through oneOf": [{"oneOf": [True, ROOT]}, ""],
    "through not": [{"not": ROOT}, ""],
    "through if": [{"if": ROOT}, ""],
    "through then": [{"if": True, "then": ROOT}, ""],
    "through else": [{"if": True, "else": ROOT}, ""],
    "through dependentSchemas": [{"dependentSchemas": {"a": ROOT}}, ""],
    "through dependencies": [{"dependencies": {"a": ["b"], "b": ROOT}}, ""],
    "two references": [
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        "/$defs/a",
    ],
    "in definitions that nothing uses": [{"$defs": {"a": {"$ref": "#/$defs/a"}}}, "/$defs/a"],
    "through a dynamic reference": [{"$dynamicAnchor": "a", "allOf": [{"$dynamicRef": "#a"}]}, ""],
    "through an unknown keyword": [{"x-a": {"$ref": "#/x-a"}, "$ref": "#/x-a"}, "/$ref -> #/x-a"],
    "below what goes deeper": [{"items": {"allOf": [{"$ref": "#/items"}]}}, "/items"],
}
ENDING: dict[str, Any] = {
    "through properties": {"properties": {"a": ROOT}},
    "through patternProperties": {"patternProperties": {"^a": ROOT}},
    "through additionalProperties": DEEPER,
    "through unevaluatedProperties": {"unevaluatedProperties": ROOT},
    "through items": {"items": ROOT},
    "through prefixItems": {"prefixItems": [ROOT]},
    "through unevaluatedItems": {"unevaluatedItems": ROOT},
    "through contains": {"contains": ROOT},
    "through propertyNames": {"propertyNames": ROOT},
    "through a definition": {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}},
    "nowhere": {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"type": "string"}}}},
    "through contentSchema": {"contentSchema": ROOT},
    "through then without if": {"then": ROOT, "else": ROOT},
    "through what a reference makes void": {
        "$schema": D07,
        "properties": {"a": {"$ref": "#/definitions/b", "not": {"$ref": "#/properties/a"}}},
        "definitions": {"b": True},
    },
    "one definition, used twice": {
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
        "$defs": {"a": {}},
    },
}


def table(cases: dict[str, Any]) -> list[Any]:
    return [pytest.param(*case, id=name) for name, case in cases.items()]


def doubling(times: int) -> dict[str, Any]:
    """Return a schema with about 2^*times* ways through its references."""
    definitions: dict[str, Any] = {
        f"a{number}": {"allOf": [{"$ref": f"#/$defs/a{number + 1}"}] * 2} for number in range(times)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**definitions, f"a{times}": {"type": "string"}}}


@pytest.mark.parametrize(("schema", "place"), table(ENDLESS))
def test_cyclic_references_are_rejected(schema: Any, place: str) -> None:
    """The error has a location on the cycle."""
    error = schema_error(schema)

    assert ErrorReason.REFERENCE_CYCLE == error.reason
    assert {"place": place} == error.metadata
    assert f"the references at {place or 'the root'} form a cycle" in error.message


@pytest.mark.parametrize(
    "schema", [pytest.param(schema, id=name) for name, schema in ENDING.items()]
)
def test_references_that_go_deeper_may_return(schema: Any) -> None:
    """Then the payload determines the number of steps."""
    assert [] == list(find_reference_cycles(survey_of(schema)))
    fast = compile_value(schema).fast

    assert fast is None or fast.is_valid({})


@pytest.mark.parametrize("times", [9, 14, 2000])
def test_many_paths_of_references_are_not_a_cycle(times: int) -> None:
    """The search does not walk each path."""
    assert [] == list(find_reference_cycles(survey_of(doubling(times))))


def test_a_long_chain_of_references_is_not_a_cycle() -> None:
    """The search does not recurse along it."""
    definitions: dict[str, Any] = {
        f"a{number}": {"$ref": f"#/$defs/a{number + 1}"} for number in range(5000)
    }
    survey = survey_of({"$defs": {**definitions, "a5000": {"type": "string"}}})

    assert [] == list(find_reference_cycles(survey))


def test_recursion_into_the_payload_is_not_a_cycle() -> None:
    """Its depth is that of the payload."""
    assert [True, True, False] == evaluate_all(DEEPER, [{}, {"a": {"b": {}}}, {"a": {"b": 1}}])
