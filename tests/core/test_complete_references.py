"""The complete engine resolves references as specified where its library does not."""

from typing import Any

import pytest
from sidecheck_server.core.schemas.resources import UnresolvableError
from support.complete_engines import engine_for

D04, D07, D2019, D2020 = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)


def test_nothing_is_fetched() -> None:
    """A reference to a document that was not sent is unresolvable."""
    engine = engine_for({"$ref": "http://localhost:1/schema.json"})

    with pytest.raises(UnresolvableError):
        engine.is_valid(1)


@pytest.mark.parametrize(
    ("schema", "payload", "expected"),
    [
        pytest.param(
            {"items": {"$ref": "urn:seven"}},
            [{"if": 1}],
            True,
            id="a document of draft 7 is read as draft 7",
        ),
        pytest.param(
            {"items": {"$ref": "urn:seven#/definitions/closed"}},
            [{"x": 1}],
            True,
            id="so is a part of it",
        ),
        pytest.param(
            {"items": {"$ref": "urn:inside"}},
            [{"x": 1}],
            True,
            id="so is a resource embedded in it",
        ),
        pytest.param(
            {"items": {"$ref": "urn:here#/definitions/closed"}},
            [{"x": 1}],
            False,
            id="a document without a dialect has that of the schema",
        ),
    ],
)
def test_a_dialect_is_that_of_the_resource(schema: Any, payload: Any, expected: bool) -> None:
    """unevaluatedProperties means something in 2020-12, and nothing in draft 7."""
    closed = {"unevaluatedProperties": False}
    documents = {
        "urn:seven": {
            "$schema": D07,
            "unevaluatedProperties": False,
            "definitions": {"closed": closed, "inside": {"$id": "urn:inside", **closed}},
        },
        "urn:here": {"definitions": {"closed": closed}},
    }

    assert expected is engine_for(schema, documents=documents).is_valid(payload)


def test_resources_under_dependencies_resolve() -> None:
    """An array of names before a subschema does not hide the resource in it."""
    schema = {
        "$schema": D07,
        "dependencies": {"b": ["c"], "a": {"$id": "urn:x", "required": ["z"]}},
        "properties": {"k": {"$ref": "urn:x"}},
    }
    engine = engine_for(schema)

    assert (True, False) == (engine.is_valid({"k": {"z": 1}}), engine.is_valid({"k": {}}))


def test_resources_under_not_have_their_own_base() -> None:
    """Subschemas that only need a yes or no are evaluated in their own resource too."""
    schema = {
        "$id": "http://x.test/a",
        "not": {
            "$id": "http://x.test/b/",
            "$defs": {"i": {"type": "integer"}},
            "$ref": "#/$defs/i",
        },
    }
    engine = engine_for(schema)

    assert (True, False) == (engine.is_valid("a"), engine.is_valid(1))


def inner_resource(**keywords: Any) -> dict[str, Any]:
    return {"$id": "urn:inner", "properties": {"next": keywords}}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(
            {
                "$dynamicAnchor": "node",
                "type": ["object", "integer"],
                "properties": {
                    "in": {
                        "$dynamicAnchor": "node",
                        "type": "object",
                        **inner_resource(**{"$dynamicRef": "#node"}),
                    }
                },
            },
            id="2020-12",
        ),
        pytest.param(
            {
                "$schema": D2019,
                "$recursiveAnchor": True,
                "type": ["object", "integer"],
                "properties": {
                    "in": {
                        "$recursiveAnchor": True,
                        "type": "object",
                        **inner_resource(**{"$recursiveRef": "#"}),
                    }
                },
            },
            id="2019-09",
        ),
    ],
)
def test_the_dynamic_scope_holds_resources_entered_without_a_reference(schema: Any) -> None:
    """The outermost resource of the path of evaluation wins, also one without a URI."""
    engine = engine_for(schema)

    assert (True, False) == (
        engine.is_valid({"in": {"next": 1}}),
        engine.is_valid({"in": {"next": "x"}}),
    )


def test_a_plain_reference_to_a_dynamic_anchor_is_static() -> None:
    """Only $dynamicRef is resolved dynamically (2020-12 core, section 8.2.2)."""
    schema = {
        "$id": "http://x.test/a",
        "$dynamicAnchor": "node",
        "type": ["object", "integer"],
        "properties": {"in": {"$ref": "b"}},
        "$defs": {
            "b": {
                "$id": "b",
                "$dynamicAnchor": "node",
                "type": ["object", "string"],
                "properties": {"next": {"$ref": "#node"}},
            }
        },
    }
    engine = engine_for(schema)

    assert (True, False) == (
        engine.is_valid({"in": {"next": "x"}}),
        engine.is_valid({"in": {"next": 1}}),
    )


def test_recursive_anchors_count_beyond_a_resource_without_one() -> None:
    """The outermost recursive anchor applies (2019-09, section 8.2.4.2)."""
    schema = {
        "$schema": D2019,
        "$id": "http://x.test/a",
        "$recursiveAnchor": True,
        "type": ["object", "integer"],
        "properties": {"in": {"$ref": "b"}},
        "$defs": {
            "b": {"$id": "b", "properties": {"in": {"$ref": "c"}}},
            "c": {
                "$id": "c",
                "$recursiveAnchor": True,
                "type": "object",
                "properties": {"next": {"$recursiveRef": "#"}},
            },
        },
    }

    assert engine_for(schema).is_valid({"in": {"in": {"next": 1}}})
