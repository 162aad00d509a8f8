"""Validation of schemas against published meta-schemas and those sent along."""

from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason
from support.compiling import D04, D06, D07, D2019, D2020, compile_value, evaluate_all, schema_error

OWN = "https://example.com/dialect"
# Keywords whose values break every draft that has them.
BROKEN: dict[str, Any] = {
    "a type": {"type": "any"},
    "a number as type": {"type": 5},
    "no types": {"type": []},
    "one type twice": {"type": ["null", "null"]},
    "properties": {"properties": []},
    "a property": {"properties": {"a": 5}},
    "branches": {"allOf": {}},
    "no branches": {"anyOf": []},
    "an enumeration": {"enum": "a"},
    "names": {"required": "a"},
    "a name": {"required": [1]},
    "a bound": {"minimum": "1"},
    "a size": {"maxLength": -1},
    "half a size": {"minItems": 0.5},
    "a multiple": {"multipleOf": 0},
    "a pattern": {"pattern": 5},
    "a flag": {"uniqueItems": "yes"},
    "a dependency": {"dependencies": {"a": 5}},
    "a definition": {"definitions": {"a": None}},
}
# Meta-schemas of one's own that must not be used, and why.
UNUSABLE: dict[str, Any] = {
    "a type": [{"type": 5}, ErrorReason.INVALID_SCHEMA],
    "a size": [{"minProperties": "1"}, ErrorReason.INVALID_SCHEMA],
    "a loop": [{"$ref": "#"}, ErrorReason.REFERENCE_CYCLE],
    "a loop of branches": [{"allOf": [{"$ref": "#"}]}, ErrorReason.REFERENCE_CYCLE],
    "a reference": [{"not": {"$ref": "urn:nowhere"}}, ErrorReason.UNRESOLVABLE_REFERENCE],
    "a pattern": [{"pattern": "("}, ErrorReason.INVALID_PATTERN],
    "a pattern of names": [{"patternProperties": {"(?<=a)": {}}}, ErrorReason.UNSUPPORTED_PATTERN],
    "a part of another document": [{"$ref": "urn:d#/a"}, ErrorReason.INVALID_SCHEMA],
}


def table(cases: dict[str, Any]) -> list[Any]:
    return [
        pytest.param(*(case if isinstance(case, list) else [case]), id=name)
        for name, case in cases.items()
    ]


@pytest.mark.parametrize("draft", [D2020, D2019, D07, D06, D04])
@pytest.mark.parametrize("schema", table(BROKEN))
def test_a_schema_that_violates_its_meta_schema_is_rejected(schema: Any, draft: str) -> None:
    """The fault may be nested; the error has its location."""
    error = schema_error({"$schema": draft, "not": {"items": schema}})

    assert (ErrorReason.INVALID_SCHEMA, draft) == (error.reason, error.metadata["dialect"])
    assert error.metadata["pointer"].startswith("/not")
    assert all(violation.instance_location.startswith("/not") for violation in error.violations)
    assert error.violations


@pytest.mark.parametrize("schema", table(BROKEN))
def test_a_custom_lax_meta_schema_does_not_weaken_the_check(schema: Any) -> None:
    """The meta-schema of its dialect applies too, since engines rely on it."""
    lax = {OWN: {"$schema": D2020}}

    error = schema_error({"$schema": OWN, **schema}, lax)

    assert (ErrorReason.INVALID_SCHEMA, D2020) == (error.reason, error.metadata["dialect"])


def test_a_strict_custom_meta_schema_applies() -> None:
    """It applies at every depth through its own dynamic anchor."""
    strict = {
        "$id": OWN,
        "$schema": D2020,
        "$dynamicAnchor": "meta",
        "allOf": [{"$ref": D2020}],
        "properties": {"pattern": False, "title": {"maxLength": 3}},
    }
    schema = {"$schema": OWN, "items": {"title": "long", "pattern": "a"}}

    error = schema_error(schema, {OWN: strict})

    assert (ErrorReason.INVALID_SCHEMA, OWN) == (error.reason, error.metadata["dialect"])
    assert ["/items/pattern", "/items/title"] == sorted(
        problem.instance_location for problem in error.violations
    )
    assert [True, False] == evaluate_all(
        {"$schema": OWN, "type": "string"}, ["a", 1], {OWN: strict}
    )


@pytest.mark.parametrize(("meta", "reason"), table(UNUSABLE))
def test_an_unusable_meta_schema_is_rejected_before_it_evaluates(
    meta: Any, reason: ErrorReason
) -> None:
    """It is checked as any schema; the error names it."""
    documents = {OWN: {"$schema": D2020, **meta}, "urn:d": {"a": {"type": 5}}}

    error = schema_error({"$schema": OWN, "type": "string"}, documents)

    assert (reason, OWN) == (error.reason, error.metadata["meta_schema"])
    assert error.message.startswith(f"the meta-schema {OWN}: ")


def test_the_meta_schema_of_an_embedded_dialect_is_admitted_too() -> None:
    """It is checked before any resource of that dialect."""
    documents = {OWN: {"$ref": "#"}}

    inside = schema_error({"not": {"$id": "urn:a", "$schema": OWN}}, documents)
    outside = schema_error({"$ref": "urn:b"}, {**documents, "urn:b": {"$schema": OWN}})

    assert [ErrorReason.REFERENCE_CYCLE] * 2 == [inside.reason, outside.reason]


def test_a_long_line_of_dialects_is_followed() -> None:
    """Each of which is checked by the next."""
    line = {
        f"urn:{number}": {"$schema": f"urn:{number + 1}" if number < 200 else D2020}
        for number in range(201)
    }

    assert [True, False] == evaluate_all({"$schema": "urn:0", "type": "string"}, ["a", 1], line)


def test_nested_dialects_are_an_error() -> None:
    """The limit is the interpreter's recursion depth."""
    within: Any = {
        f"urn:{number}": {"not": {"$id": f"urn:in:{number}", "$schema": f"urn:{number + 1}"}}
        for number in range(250)
    }

    error = schema_error({"$schema": "urn:0"}, {**within, "urn:250": {}})

    assert (ErrorReason.LIMIT_EXCEEDED, "recursion_depth") == (
        error.reason,
        error.metadata["bound"],
    )


@pytest.mark.parametrize("draft", [D2020, D2019, D07, D06, D04])
@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda inner: {"not": inner}, id="not"),
        pytest.param(lambda inner: {"items": inner}, id="items"),
        pytest.param(lambda inner: {"anyOf": [inner]}, id="anyOf"),
        pytest.param(lambda inner: {"properties": {"a": inner}}, id="properties"),
        pytest.param(lambda inner: {"dependencies": {"a": inner}}, id="dependencies"),
    ],
)
def test_schemas_of_any_depth_are_checked(draft: str, wrap: Any) -> None:
    """The deepest that are read; valid ones pass, and of others a fault is reported."""
    good: Any = {"type": "string"}
    bad: Any = {"type": 5}
    while depth(wrap(good)) < 64:
        good, bad = wrap(good), wrap(bad)

    assert compile_value({"$schema": draft, **good}).digest
    error = schema_error({"$schema": draft, **bad})
    assert (ErrorReason.INVALID_SCHEMA, True) == (error.reason, bool(error.violations))


def depth(value: Any) -> int:
    if isinstance(value, dict | list):
        within = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth, within), default=0)
    return 0


def test_many_faults_are_reported_up_to_a_number() -> None:
    """The number of reported faults is limited."""
    error, shorter = (
        schema_error({"properties": {str(number): {"type": 5} for number in range(count)}})
        for count in (101, 100)
    )

    assert (100, True) == (len(error.violations), error.truncated)
    assert (100, False) == (len(shorter.violations), shorter.truncated)


def test_a_fault_of_a_document_has_its_location() -> None:
    """The pointer starts at the target of the reference."""
    error = schema_error({"items": {"$ref": "urn:d#/a"}}, {"urn:d": {"a": {"type": 5}}})

    assert (
        "the schema at /items/$ref -> urn:d#/a is invalid against the meta-schema of 2020-12"
        in (error.message)
    )
    assert "/type" == error.metadata["pointer"]
