"""Schemas reduced to their assertions, as written and closed."""

import json
from typing import Any

import pytest
from sidecheck_server.core.compat.changes import Reading
from sidecheck_server.core.compat.normal_form import (
    CannotCompareError,
    NormalForm,
    normalize_schema,
)
from sidecheck_server.core.compiler.admission import admit_schema
from sidecheck_server.core.limits import Exhausted, Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Draft

LIMITS = Limits()
D4 = "http://json-schema.org/draft-04/schema#"
D7 = "http://json-schema.org/draft-07/schema#"
D19 = "https://json-schema.org/draft/2019-09/schema"
S = {"type": "string"}
ANCHOR = {"$dynamicAnchor": "x"}
DYNAMIC = {
    "$ref": "#/$defs/a",
    "$defs": {"a": {"$id": "urn:a", "$dynamicRef": "#x", "$defs": {"x": ANCHOR}}},
}


def normalized(
    schema: Any, reading: Reading = Reading.AS_WRITTEN, steps: int = LIMITS.steps
) -> NormalForm:
    """Return the form of *schema*."""
    admitted = admit_schema(SchemaSource(json.dumps(schema).encode()), LIMITS)
    is_draft_4 = admitted.context.dialect.draft is Draft.DRAFT_04
    draft = Draft.DRAFT_04 if is_draft_4 else Draft.DRAFT_2020_12
    return normalize_schema(admitted, draft, reading, [steps])


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        pytest.param(True, True, id="true"),
        pytest.param(False, False, id="false"),
        pytest.param(
            {"type": ["string"], "format": "date", "title": "T", "x": 1, "contentEncoding": "a"},
            S,
            id="annotations",
        ),
        pytest.param(
            {"required": ["b", "a"], "type": ["object"]},
            {"required": ["a", "b"], "type": "object"},
            id="order",
        ),
        pytest.param({"minContains": 2, "then": S}, {}, id="keywords without effect"),
        pytest.param(
            {
                "$schema": D7,
                "$ref": "#/definitions/a/b",
                "maxLength": 1,
                "definitions": {"a": {"b": S}},
            },
            {"$ref": "#/$defs/b", "$defs": {"b": S}},
            id="siblings of a reference in draft 7",
        ),
        pytest.param(
            {"$ref": "#/$defs/a", "maxLength": 1, "$defs": {"a": S}},
            {"maxLength": 1, "allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": S}},
            id="siblings of a reference since 2019-09",
        ),
        pytest.param(
            {"$schema": D7, "items": [S], "additionalItems": False},
            {"prefixItems": [S], "items": False},
            id="items of draft 7",
        ),
        pytest.param(
            {"$schema": D7, "dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
            {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
            id="dependencies of draft 7",
        ),
        pytest.param(
            {"$schema": D4, "minimum": 1, "exclusiveMinimum": True},
            {"minimum": 1, "exclusiveMinimum": True},
            id="draft 4",
        ),
        pytest.param(
            {"properties": {"next": {"$ref": "#"}}},
            {
                "properties": {"next": {"$ref": "#/$defs/root"}},
                "$defs": {"root": {"properties": {"next": {"$ref": "#/$defs/root"}}}},
            },
            id="a reference to the root",
        ),
        pytest.param(
            {"$schema": D19, "$recursiveRef": "#/$defs/a", "$defs": {"a": S}},
            {"$ref": "#/$defs/a", "$defs": {"a": S}},
            id="a reference by another keyword",
        ),
    ],
)
def test_the_form_as_written(schema: Any, form: Any) -> None:
    """It asserts the same in 2020-12, or in draft 4."""
    assert form == normalized(schema).schema


CLOSED = {"additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        pytest.param({"type": "object"}, {"type": "object"}, id="it declares nothing"),
        pytest.param(
            {"properties": {}, "required": [], "anyOf": [{"properties": {"a": S}}, {}]},
            {"anyOf": [{"properties": {"a": S}, **CLOSED}, {}]},
            id="it declares no property",
        ),
        pytest.param(
            {"properties": {"a": S}, "additionalProperties": True},
            {"properties": {"a": S}, "additionalProperties": True},
            id="it says that it is open",
        ),
        pytest.param(
            {"properties": {"a": S}, "required": ["b"], "patternProperties": {"^x": S}},
            {
                "properties": {"a": S, "b": True},
                "required": ["b"],
                "patternProperties": {"^x": S},
                **CLOSED,
            },
            id="names that it requires",
        ),
        pytest.param(
            {"items": {"properties": {"a": S}}},
            {"items": {"properties": {"a": S}, **CLOSED}},
            id="items",
        ),
        pytest.param(
            {"allOf": [{"properties": {"a": S}}, {"properties": {"b": S}}]},
            {
                "allOf": [{"properties": {"a": S}}, {"properties": {"b": S}}],
                "properties": {"a": True, "b": True},
                **CLOSED,
            },
            id="parts of one object",
        ),
        pytest.param(
            {"anyOf": [{"properties": {"a": S}}, {"type": "null"}]},
            {"anyOf": [{"properties": {"a": S}, **CLOSED}, {"type": "null"}]},
            id="a choice",
        ),
        pytest.param(
            {"not": {"properties": {"a": S}}}, {"not": {"properties": {"a": S}}}, id="a condition"
        ),
        pytest.param(
            {
                "properties": {"p": {"$ref": "#/$defs/d"}},
                "allOf": [{"$ref": "#/$defs/d"}],
                "$defs": {"d": {"properties": {"a": S}}},
            },
            {
                "properties": {"p": {"$ref": "#/$defs/d"}, "a": True},
                "allOf": [{"$ref": "#/$defs/d-part"}],
                **CLOSED,
                "$defs": {
                    "d": {"properties": {"a": S}, **CLOSED},
                    "d-part": {"properties": {"a": S}},
                },
            },
            id="a definition that is a whole and a part",
        ),
    ],
)
def test_the_form_with_objects_closed(schema: Any, form: Any) -> None:
    """The subschemas of one object are closed as one."""
    assert form == normalized(schema, Reading.ASSUME_CLOSED).schema


@pytest.mark.parametrize(
    ("schema", "only_narrows"),
    [
        ({"properties": {"a": S}}, True),
        ({"oneOf": [S, {"type": "null"}]}, True),
        ({"oneOf": [{"properties": {"a": S}}, {"properties": {"b": S}}]}, False),
    ],
)
def test_closing_below_one_of_may_admit_more(schema: Any, only_narrows: bool) -> None:
    """If two branches admit a value, closing may leave one."""
    assert only_narrows is normalized(schema, Reading.ASSUME_CLOSED).only_narrows


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        pytest.param(
            {
                "$ref": "#/$defs/a",
                "$defs": {
                    "a": {
                        "$id": "urn:a",
                        "$dynamicRef": "#x",
                        "$defs": {"x": {"$dynamicAnchor": "x"}},
                    }
                },
            },
            "the target of $dynamicRef depends on the path to it",
            id="dynamic",
        ),
        pytest.param(
            {"$schema": D19, "contains": S, "unevaluatedItems": False},
            "it uses contains and unevaluatedItems of 2019-09",
            id="contains of 2019-09",
        ),
        pytest.param(
            {"allOf": [{"$schema": D4, "id": "urn:a", "type": "integer"}]},
            "draft 4 occurs together with another draft",
            id="draft 4 embedded",
        ),
    ],
)
def test_inexpressible_schemas_have_a_reason(schema: Any, reason: str) -> None:
    """`CannotCompareError` has the reason."""
    with pytest.raises(CannotCompareError) as caught:
        normalized(schema)

    assert reason == caught.value.reason


def test_the_form_takes_steps() -> None:
    """A large schema is not written for free."""
    with pytest.raises(Exhausted):
        normalized({"properties": {str(i): S for i in range(100)}}, steps=1000)
