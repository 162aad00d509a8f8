"""Wrapping of output schemas: references keep their targets, and nothing else changes."""

import copy
import json
from random import Random
from typing import Any

import pytest
from agreement.editions import EDITIONS, Edition
from agreement.engines import Engines, create_engines
from agreement.payloads import PayloadMaker
from agreement.schemas import Question, generate_schema
from sidecheck_server.core.json_values import canonical_json
from sidecheck_server.core.limits import Exhausted
from sidecheck_server.core.mcp.wrapping.schemas import (
    AdaptedSchema,
    adapt_schema,
    root_is_object,
    unwrap_schema,
    wrap_schema,
)
from support.compiling import evaluate_all

D07 = "http://json-schema.org/draft-07/schema#"
D2019 = "https://json-schema.org/draft/2019-09/schema"
OBJECT = {"type": "object"}
DATA = ("const", "enum", "default", "examples", "x-unknown")
SCHEMAS, PAYLOADS = 60, 4


def large_budget() -> list[int]:
    return [10_000_000]


def wrapped_schema(schema: Any) -> Any:
    """Return the schema of the wrapped property of *schema*."""
    return wrap_schema(schema, large_budget())["properties"]["result"]


@pytest.mark.parametrize(
    ("expected", "schema"),
    [
        (True, {"type": "object"}),
        (True, {"type": ["object"]}),
        (False, {"type": ["object", "null"]}),
        (False, {"properties": {"a": {}}}),
        (False, {}),
        (
            True,
            {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": OBJECT}},
        ),
        (False, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        (False, {"$ref": "#"}),
        (False, {"$ref": "#/$defs/none"}),
        (False, {"$ref": "#/$defs/a", "$defs": {"a": {"$id": "x", "type": "object"}}}),
        (True, {"allOf": [{}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}}),
        (False, {"anyOf": [{"type": "object"}]}),
        (True, {"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"type": "object"}}}),
        (True, {"$ref": "#/$defs/a", "type": "object", "$defs": {"a": {}}}),
        pytest.param(
            False,
            {"$schema": D07, "$ref": "#/definitions/a", "type": "object", "definitions": {"a": {}}},
            id="before 2019-09 a reference makes its neighbours void",
        ),
    ],
)
def test_whether_a_root_is_an_object(expected: bool, schema: Any) -> None:
    """The root's keywords and the targets of its references decide."""
    assert expected == root_is_object(schema, large_budget())


def test_no_more_than_32_references_are_followed() -> None:
    """A chain of as many is; one more is not."""

    def chain(length: int) -> Any:
        links = {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(1, length)}
        return {"$ref": "#/$defs/1", "$defs": {**links, str(length): {"type": "object"}}}

    assert (True, False) == (
        root_is_object(chain(32), large_budget()),
        root_is_object(chain(33), large_budget()),
    )


@pytest.mark.parametrize(
    ("expected", "pointer"),
    [
        ("#/properties/result", "#"),
        ("#/properties/result", ""),
        ("#/properties/result/items/0", "#/items/0"),
        ("#/properties/result/$defs/a~1b%25c", "#/$defs/a~1b%25c"),
        ("#anchor", "#anchor"),
        ("other.json#/a", "other.json#/a"),
        ("https://example.com/x", "https://example.com/x"),
    ],
)
def test_pointers_are_rewritten_and_keep_their_escapes(expected: str, pointer: str) -> None:
    """Names and other resources are not touched."""
    # The second makes that definitions cannot be hoisted.
    schema = {"prefixItems": [{"$ref": pointer}, {"$ref": "#/prefixItems/0"}]}

    assert expected == wrapped_schema(schema)["prefixItems"][0]["$ref"]


def test_data_is_unchanged() -> None:
    """`$ref` is a reference only in a subschema or in the target of a reference."""
    data = {"$ref": "#/a"}
    schema = {
        "items": {"$ref": "#"},
        "const": data,
        "enum": [data],
        "default": data,
        "examples": [data],
        "x-unknown": data,
        "properties": {"$ref": {"$ref": "#/items"}, "const": {"$ref": "#"}},
    }
    result = wrapped_schema(schema)

    assert [schema[name] for name in DATA] == [result[name] for name in DATA]
    assert {
        "$ref": {"$ref": "#/properties/result/items"},
        "const": {"$ref": "#/properties/result"},
    } == result["properties"]


def test_the_target_of_a_reference_is_a_schema_at_any_location() -> None:
    """Many authors keep definitions under undefined keywords."""
    schema = {"$ref": "#/components/a", "components": {"a": {"items": {"$ref": "#/components/a"}}}}

    assert {
        "$ref": "#/properties/result/components/a",
        "components": {"a": {"items": {"$ref": "#/properties/result/components/a"}}},
    } == wrapped_schema(schema)


def test_a_resource_is_left_alone() -> None:
    """Its references are relative to itself at any location."""
    embedded = {"$id": "https://example.com/e", "items": {"$ref": "#"}}
    schema = {"prefixItems": [embedded, {"$ref": "#"}]}
    resource = {"$id": "https://example.com/w", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {}}}

    assert embedded == wrapped_schema(schema)["prefixItems"][0]
    assert resource == wrapped_schema(resource)


def test_a_resource_of_another_dialect_is_unchanged() -> None:
    """Its URI may be in `id` or `$id`."""
    resource = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "definitions": {"a": {"items": [{"$ref": "#/definitions/b"}]}, "b": {"type": "null"}},
        "allOf": [{"$ref": "#/definitions/a"}],
    }
    for keyword in ("id", "$id"):
        embedded = {keyword: "urn:a", **resource}
        schema = {"anyOf": [embedded, {"$ref": "#/anyOf/0"}]}

        assert {"anyOf": [embedded, {"$ref": "#/properties/result/anyOf/0"}]} == wrapped_schema(
            schema
        )


def test_a_recursive_reference_leads_to_the_wrapped_schema() -> None:
    """It refers to the root of a resource, so the wrapped schema becomes a resource."""
    schema = {"$schema": D2019, "type": "array", "items": {"$recursiveRef": "#"}, "maxItems": 1}
    wrapped = wrap_schema(schema, large_budget())

    assert [True, True, False, False] == evaluate_all(
        wrapped,
        [{"result": []}, {"result": [[[]]]}, {"result": [[[1]]]}, {"result": [{"result": []}]}],
    )
    assert schema == unwrap_schema(wrapped, large_budget())


def test_definitions_of_older_drafts_are_hoisted() -> None:
    """The dialect is hoisted too, and applies to the whole wrapper."""
    schema = {
        "$schema": D07,
        "items": {"$ref": "#/definitions/a"},
        "definitions": {"a": {"items": {"$ref": "#/definitions/a"}}},
    }

    assert {
        "$schema": D07,
        "type": "object",
        "properties": {"result": {"items": {"$ref": "#/definitions/a"}}},
        "required": ["result"],
        "definitions": schema["definitions"],
        "x-dedalus-box": {"field": "result"},
    } == wrap_schema(schema, large_budget())


BOX: Any = {"type": "object", "required": ["v"], "x-dedalus-box": {"field": "v"}}
NODE = {"items": {"$ref": "#/$defs/n"}}


@pytest.mark.parametrize(
    ("expected", "wrapped"),
    [
        pytest.param(None, {"type": "object", "properties": {"result": {}}}, id="no marker"),
        pytest.param(OBJECT, {**BOX, "properties": {"v": OBJECT}}, id="mark"),
        pytest.param({}, {**BOX, "properties": {"v": True}}, id="anything"),
        pytest.param({"not": {}}, {**BOX, "properties": {"v": False}}, id="nothing"),
        pytest.param(
            {"$ref": "#/$defs/n", "$defs": {"n": NODE}},
            {**BOX, "properties": {"v": {"$ref": "#/$defs/n"}}, "$defs": {"n": NODE}},
            id="definitions of the box",
        ),
        pytest.param(
            {"$ref": "#/$defs/n", "$defs": {"n": NODE}},
            {**BOX, "properties": {"v": {"$ref": "#/$defs/n", "$defs": {"n": NODE}}}},
            id="definitions of the value that nothing led to",
        ),
        pytest.param(
            {"items": {"$ref": "#"}},
            {**BOX, "properties": {"v": {"items": {"$ref": "#/properties/v"}}}},
            id="to the value",
        ),
        pytest.param(
            {"items": {"$ref": "#/items/a%25"}},
            {**BOX, "properties": {"v": {"items": {"$ref": "#/propert%69es/v/items/a%25"}}}},
            id="to a part of the value, in strange escapes",
        ),
    ],
)
def test_unwrap_schema(expected: Any, wrapped: Any) -> None:
    """Only the marker identifies a wrapped schema."""
    assert expected == unwrap_schema(wrapped, large_budget())


@pytest.mark.parametrize(
    "value",
    [
        {"items": {"$ref": "#"}},
        {"items": {"$ref": "#/required"}},
        {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "string"}}},
    ],
)
def test_a_schema_that_refers_to_its_wrapper_stays_wrapped(value: Any) -> None:
    """Unwrapping would change the targets of its references."""
    wrapped = {**BOX, "properties": {"v": value}, "$defs": {"n": {}}}

    assert unwrap_schema(wrapped, large_budget()) is None
    assert AdaptedSchema(wrapped, wrapped_property="v", was_wrapped=True) == adapt_schema(
        wrapped, "2026-07-28", large_budget()
    )


@pytest.mark.parametrize("edition", EDITIONS, ids=[edition.name for edition in EDITIONS])
def test_wrapped_schema_is_equivalent(edition: Edition) -> None:
    """Compares three engines on random schemas with all kinds of references; unwraps too."""
    random = Random(f"boxes {edition.name}")
    seen_verdicts: set[bool] = set()
    for _ in range(SCHEMAS):
        generated = generate_schema(random, edition)
        question = generated.question
        schema = {"$schema": edition.uri, **question.schema}
        original = copy.deepcopy(schema)
        wrapped = wrap_schema(schema, large_budget())
        unwrapped = unwrap_schema(wrapped, large_budget())
        assert original == schema
        assert canonical_json(schema) == canonical_json(unwrapped)
        engines, wrapped_engines = (
            create_engines(Question(edition, source, question.documents))
            for source in (schema, wrapped)
        )
        if not isinstance(engines, Engines):
            assert type(engines) is type(wrapped_engines)
            continue
        assert isinstance(wrapped_engines, Engines), (schema, wrapped, wrapped_engines)
        maker = PayloadMaker(random, generated.follow, names=generated.names)
        for _ in range(PAYLOADS):
            value = json.loads(json.dumps(maker.make(question.schema)))
            verdicts = _verdicts(engines, value)
            assert verdicts == _verdicts(wrapped_engines, {"result": value}), (
                schema,
                wrapped,
                value,
            )
            seen_verdicts |= {*verdicts.values()}

    assert {True, False} == seen_verdicts


def _verdicts(engines: Engines, value: Any) -> dict[str, bool]:
    """Return the verdict of each engine, or nothing if one runs out of steps."""
    try:
        return {
            "complete": engines.compiled.complete.is_valid(value, large_budget()),
            "jsonschema-rs": engines.oracle.is_valid(value),
        }
    except Exhausted:
        return {}
