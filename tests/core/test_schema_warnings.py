"""Bounds of schema warnings; the cases of the rules cover the rest."""

import pickle
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import compile_schema
from sidecheck_server.core.compiler.schema_warnings import SchemaWarning
from sidecheck_server.core.limits import Limits
from support.compiling import compile_value, source_of
from support.rule_cases import RuleCase, rule_cases

_CODES = {"DEFAULT_REFUSED", "REQUIRED_IMPOSSIBLE", "BOUNDS_IMPOSSIBLE", "VALUES_IMPOSSIBLE"}
_CASES = [
    case
    for case in rule_cases("tool")
    if case.code in _CODES and "inputSchema" in case.value and case.at
]
NULL = {"type": "string", "default": None}


def warnings_of(schema: Any, documents: Any = None, **options: Any) -> list[tuple[str, str]]:
    artifact = compile_value(schema, documents, **options).artifact
    return [(warning.code, warning.pointer) for warning in artifact.warnings]


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_compilation_reports_the_warnings_of_the_rules(case: RuleCase) -> None:
    key = case.at[0].split("/")[1]
    assert [(case.code, location.removeprefix(f"/{key}")) for location in case.at] == warnings_of(
        case.value[key]
    )


def test_a_warning_has_a_message_and_can_be_pickled() -> None:
    artifact = compile_schema(source_of({"properties": {"a": NULL}}), Limits())

    assert (
        SchemaWarning(
            "DEFAULT_REFUSED",
            "/properties/a/default",
            "the default null is invalid against its own schema: expected a string, found null",
        ),
    ) == artifact.warnings
    assert artifact == pickle.loads(pickle.dumps(artifact))


def test_a_default_is_evaluated_by_formats_if_they_are_asserted() -> None:
    schema = {"properties": {"a": {"format": "date", "default": "today"}}}

    assert [] == warnings_of(schema)
    assert [("DEFAULT_REFUSED", "/properties/a/default")] == warnings_of(
        schema, assert_formats=True
    )


def test_documents_have_no_warnings() -> None:
    assert [] == warnings_of({"$ref": "urn:a"}, {"urn:a": NULL})


_NAMED = {"anyOf": [{"$ref": "#/definitions/name"}], "default": "x"}


@pytest.mark.parametrize(
    ("schema", "documents"),
    [
        pytest.param(
            {"properties": {"a": {"$ref": "http://json-schema.org/draft-07/schema#"}}},
            None,
            id="draft-07",
        ),
        pytest.param(
            {"$ref": "https://example.com/b"},
            {
                "https://example.com/b": {
                    "properties": {"a": _NAMED},
                    "definitions": {"name": {"type": "string"}},
                }
            },
            id="document",
        ),
    ],
)
def test_references_beside_a_default_have_their_own_base(schema: Any, documents: Any) -> None:
    assert [] == warnings_of(schema, documents)


def test_referenced_unknown_keywords_have_no_warnings() -> None:
    """Its location is not that of a subschema."""
    assert [] == warnings_of({"$ref": "#/x-parts/a", "x-parts": {"a": NULL}})


def test_dynamic_references_have_no_warnings() -> None:
    tree = {
        "$id": "https://example.com/tree",
        "$dynamicAnchor": "node",
        "properties": {"next": {"$dynamicRef": "#node"}},
    }
    schema = {"allOf": [tree], "properties": {"a": NULL}}

    assert [] == warnings_of(schema)


def test_defaults_beside_a_backtracking_pattern_have_no_warnings() -> None:
    schema = {"properties": {"a": {"pattern": "(?=a)", "default": "b"}}}

    assert [] == warnings_of(schema, limits=Limits(allow_backtracking=True))


def test_the_number_of_warnings_is_limited() -> None:
    assert 100 == len(warnings_of({"properties": {str(number): NULL for number in range(1000)}}))


def test_pointers_together_have_no_more_than_a_bound() -> None:
    long = {"properties": {"n" * 100_000: {"properties": {"a": NULL, "b": NULL, "c": NULL}}}}

    assert 2 == len(warnings_of(long))


def test_expensive_defaults_have_no_warnings() -> None:
    """The schema itself is valid."""
    slow: Any = {"items": {"anyOf": [*({"type": "string"} for _ in range(20)), {}]}}
    default = list(range(5000))
    slow["default"] = default
    # Subschemas are looked at in document order.
    schema = {"properties": {"slow": slow, "after": NULL}}

    assert [] == warnings_of(schema)


def test_boolean_schemas_have_none() -> None:
    assert [] == warnings_of(True)
