"""Resolution of references in the schema and its documents, by both engines."""

from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.limits import Limits
from support.compiling import D04, D07, D2019, compile_value, evaluate_all, schema_error, survey_of

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
ANCHORED = {"$anchor": "a", **STRING}
DYNAMIC = {"$dynamicAnchor": "a", **STRING}

# Schemas with their documents, all of which let strings pass and no numbers.
LEADING: dict[str, Any] = {
    "a pointer": [{"$ref": "#/$defs/a", "$defs": {"a": STRING}}],
    "a pointer with escapes": [{"$ref": "#/$defs/a~1b~0c%25%C3%A9", "$defs": {"a/b~c%é": STRING}}],
    "an empty name": [{"$ref": "#/$defs/", "$defs": {"": STRING}}],
    "an index": [{"$ref": "#/allOf/1", "allOf": [True, STRING]}],
    "an unknown keyword": [{"$ref": "#/x-a/b", "x-a": {"b": STRING}}],
    "data": [{"$ref": "#/enum/0", "enum": [STRING, "a", 1]}],
    "an anchor": [{"$ref": "#a", "$defs": {"b": ANCHORED}}],
    "a dynamic reference to an anchor": [{"$dynamicRef": "#a", "$defs": {"b": ANCHORED}}],
    "a dynamic reference by pointer": [{"$dynamicRef": "#/$defs/b", "$defs": {"b": STRING}}],
    "a relative URI": [
        {"$id": "http://x/a/b", "$ref": "c", "$defs": {"d": {"$id": "c", **STRING}}}
    ],
    "a pointer into an embedded resource": [
        {"$ref": "urn:a#/items", "$defs": {"d": {"$id": "urn:a", "items": STRING}}}
    ],
    "a document": [{"$ref": "http://x/d"}, {"http://x/d": STRING}],
    "a document with an empty fragment": [{"$ref": "http://x/d#"}, {"http://x/d": STRING}],
    "a document that was sent with one": [{"$ref": "http://x/d"}, {"http://x/d#": STRING}],
    "the URI that a document gives itself": [
        {"$ref": "http://x/i"},
        {"urn:d": {"$id": "http://x/i", **STRING}},
    ],
    "a resource embedded in a document": [
        {"$ref": "http://x/i"},
        {"http://x/d": {"$defs": {"a": {"$id": "i", **STRING}}}},
    ],
    "from document to document": [
        {"$ref": "http://x/1"},
        {"http://x/1": {"$ref": "2#a"}, "http://x/2": {"$defs": {"b": ANCHORED}}},
    ],
    "an anchor of draft 7": [
        {"$schema": D07, "$ref": "#a", "definitions": {"b": {"$id": "#a", **STRING}}}
    ],
    "an identifier of draft 4": [
        {
            "$schema": D04,
            "id": "http://x/a",
            "allOf": [{"$ref": "b"}],
            "definitions": {"c": {"id": "b", **STRING}},
        }
    ],
    "a part of a document that is no schema": [
        {"$ref": "urn:d#/a/b"},
        {"urn:d": {"a": {"b": STRING}, "type": 5, "properties": "none"}},
    ],
    "a document under two URIs": [
        {"allOf": [{"$ref": "urn:1"}, {"$ref": "urn:2"}]},
        {"urn:1": {"$id": "urn:i", **STRING}, "urn:2": {"$id": "urn:i", **STRING}},
    ],
}
NOWHERE = {
    "a name that is not there": "#/$defs/b",
    "an index too large": "#/allOf/1",
    "a negative index": "#/allOf/-1",
    "an index with a sign": "#/allOf/+0",
    "an index with an underscore": "#/allOf/1_0",
    "an index and nothing": "#/allOf/0/",
    "a text": "#/title",
    "a letter of a text": "#/title/0",
    "an array": "#/allOf",
    "an anchor that is not there": "#a",
    "an anchor under an unknown keyword": "#hidden",
    "an identifier under an unknown keyword": "urn:hidden",
    "two fragments": "##",
    "no URI": "http://[",
    "a relative URI without a base": "other",
    "nowhere in a published meta-schema": "https://json-schema.org/draft/2020-12/schema#/$defs/x",
    "a file": "file:///etc/passwd",
    "a data URI": "data:application/json,{}",
    "a long text": "x" * 300,
}
# Schemas with a dynamic reference, its target, and whether the target is always the same.
MIDDLE = {"$id": "m", "$dynamicRef": "#a", "$defs": {"b": DYNAMIC}}
RECURSIVE = {"$id": "m", "properties": {"p": {"$recursiveRef": "#"}}}
DYNAMICALLY: dict[str, Any] = {
    "an anchor that the root lacks": [
        {"$ref": "#/$defs/m", "$defs": {"m": MIDDLE}},
        DYNAMIC,
        False,
    ],
    "an anchor that the root has": [
        {"$ref": "m", "$defs": {"r": {"$dynamicAnchor": "a", **INTEGER}, "m": MIDDLE}},
        {"$dynamicAnchor": "a", **INTEGER},
        True,
    ],
    "a resource without an anchor": [
        {"$schema": D2019, "$ref": "m", "$defs": {"m": RECURSIVE}},
        RECURSIVE,
        True,
    ],
    "a resource with an anchor that the root lacks": [
        {"$schema": D2019, "$ref": "m", "$defs": {"m": {**RECURSIVE, "$recursiveAnchor": True}}},
        {**RECURSIVE, "$recursiveAnchor": True},
        False,
    ],
}


def table(cases: dict[str, Any]) -> list[Any]:
    return [pytest.param(case, id=name) for name, case in cases.items()]


@pytest.mark.parametrize("case", table(LEADING))
def test_references_resolve(case: list[Any]) -> None:
    """Both engines resolve them."""
    schema, *documents = case

    assert [True, False] == evaluate_all(schema, ["a", 1], *documents)


@pytest.mark.parametrize("reference", table(NOWHERE))
def test_unresolvable_references_are_rejected(reference: str) -> None:
    """The error has their location and their text, or its end."""
    error = schema_error(
        {
            "title": "abc",
            "allOf": [True],
            "x-a": {"$anchor": "hidden", "$defs": {"a": {"$id": "urn:hidden"}}},
            "properties": {"p": {"$ref": reference}},
        }
    )

    shown = reference if len(reference) <= 200 else "…" + reference[-200:]
    assert ErrorReason.UNRESOLVABLE_REFERENCE == error.reason
    assert {"reference": shown, "place": "/properties/p"} == error.metadata


@pytest.mark.parametrize("case", table(DYNAMICALLY))
def test_dynamic_references_are_static_where_the_root_decides(case: list[Any]) -> None:
    """Evaluation starts at the root, so its anchor is the outermost."""
    schema, expected, static = case
    (reached,) = [
        reference
        for (_, keyword), reference in survey_of(schema).references.items()
        if keyword != "$ref"
    ]

    assert (expected, static) == (reached.target, reached.static)


def test_recursive_references_resolve_to_a_recursive_root() -> None:
    """The initial target must be recursive too."""
    schema = {
        "$schema": D2019,
        "$recursiveAnchor": True,
        "$ref": "m",
        "$defs": {"m": {**RECURSIVE, "$recursiveAnchor": True}},
    }
    references = {
        keyword: reference for (_, keyword), reference in survey_of(schema).references.items()
    }

    assert references["$recursiveRef"].target is schema
    assert references["$recursiveRef"].static


def test_every_reachable_subschema_has_a_location() -> None:
    """It is a path from the root, or the references to another document."""
    schema = {"anyOf": [{"not": {"$ref": "urn:d#/x"}}, True], "$defs": {"a/b": {}}, "const": {}}
    documents = {"urn:d": {"x": {"properties": {"p": {"$ref": "#/y"}}}, "y": STRING}}

    assert [
        "",
        "/$defs/a~1b",
        "/anyOf/0",
        "/anyOf/0/not",
        "/anyOf/0/not/$ref -> urn:d#/x",
        "/anyOf/0/not/$ref -> urn:d#/x/properties/p",
        "/anyOf/0/not/$ref -> urn:d#/x/properties/p/$ref -> #/y",
    ] == sorted(subschema.place for subschema in survey_of(schema, documents).reached.values())


def test_locations_stay_short() -> None:
    """Names of ancestors may be long, and descendants many."""
    deep_schema: Any = {"properties": {str(number): {} for number in range(5000)}}
    survey = survey_of({"properties": {"n" * 100_000: deep_schema}})

    places = [subschema.place for subschema in survey.reached.values()]
    assert (5002, True) == (len(places), max(map(len, places)) < 320)


def test_the_number_of_subschemas_is_bounded_at_any_location() -> None:
    """The limit covers the schema and its documents together."""
    documents: Any = {"urn:d": {"$defs": {str(number): {} for number in range(6)}}}
    schema = {"$ref": "urn:d", "properties": {str(number): {} for number in range(6)}}

    error = schema_error(schema, documents, limits=Limits(subschemas=13))

    assert {"bound": "subschemas", "limit": "13"} == error.metadata
    assert "" == compile_value(schema, documents, limits=Limits(subschemas=14)).complete_only_reason


def test_references_in_data_are_data() -> None:
    """Constants, annotations and unknown keywords are not resolved."""
    nowhere = {"$ref": "urn:nowhere"}
    schema = {"const": nowhere, "default": nowhere, "x-a": nowhere, "enum": [nowhere]}

    assert {} == survey_of(schema).references
    assert [True, False] == evaluate_all(schema, [nowhere, {}])
