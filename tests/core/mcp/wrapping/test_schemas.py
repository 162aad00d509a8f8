"""Boxes for output schemas: every reference leads where it led, and nothing else changes."""

import copy
import json
from random import Random
from typing import Any

import pytest
from agreement.editions import EDITIONS, Edition
from agreement.engines import Engines, create_engines
from agreement.payloads import PayloadMaker
from agreement.schemas import Question, generate_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.json_values import canonical_json
from sidecheck_server.core.limits import Exhausted
from sidecheck_server.core.mcp.wrapping.schemas import root_is_object, unwrap_schema, wrap_schema
from support.compiling import evaluate_all

D07 = "http://json-schema.org/draft-07/schema#"
D2019 = "https://json-schema.org/draft/2019-09/schema"
OBJECT = {"type": "object"}
DATA = ("const", "enum", "default", "examples", "x-unknown")
SCHEMAS, PAYLOADS = 60, 4


def plenty() -> list[int]:
    return [10_000_000]


def inside(schema: Any) -> Any:
    """Return what stands in the box of *schema*."""
    return wrap_schema(schema, plenty())["properties"]["result"]


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
    """By what the root says, and what it leads to."""
    assert expected == root_is_object(schema, plenty())


def test_no_more_than_32_references_are_followed() -> None:
    """A chain of as many is; one more is not."""

    def chain(length: int) -> Any:
        links = {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(1, length)}
        return {"$ref": "#/$defs/1", "$defs": {**links, str(length): {"type": "object"}}}

    assert (True, False) == (
        root_is_object(chain(32), plenty()),
        root_is_object(chain(33), plenty()),
    )


@pytest.mark.parametrize(
    ("expected", "given"),
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
def test_pointers_are_rewritten_and_keep_their_escapes(expected: str, given: str) -> None:
    """Names and other resources are not touched."""
    # The second makes that definitions cannot be hoisted.
    schema = {"prefixItems": [{"$ref": given}, {"$ref": "#/prefixItems/0"}]}

    assert expected == inside(schema)["prefixItems"][0]["$ref"]


def test_what_is_data_stays_as_it_is() -> None:
    """A reference is one only where a subschema stands, or where one leads."""
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
    result = inside(schema)

    assert [schema[name] for name in DATA] == [result[name] for name in DATA]
    assert {
        "$ref": {"$ref": "#/properties/result/items"},
        "const": {"$ref": "#/properties/result"},
    } == result["properties"]


def test_what_a_reference_leads_to_is_a_schema_wherever_it_stands() -> None:
    """Many keep definitions where no dialect has them."""
    schema = {"$ref": "#/components/a", "components": {"a": {"items": {"$ref": "#/components/a"}}}}

    assert {
        "$ref": "#/properties/result/components/a",
        "components": {"a": {"items": {"$ref": "#/properties/result/components/a"}}},
    } == inside(schema)


def test_a_resource_is_left_alone() -> None:
    """Its references start at itself, wherever it stands."""
    embedded = {"$id": "https://example.com/e", "items": {"$ref": "#"}}
    schema = {"prefixItems": [embedded, {"$ref": "#"}]}
    whole = {"$id": "https://example.com/w", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {}}}

    assert embedded == inside(schema)["prefixItems"][0]
    assert whole == inside(whole)


def test_a_recursive_reference_leads_to_what_stands_in_the_box() -> None:
    """It always leads to the root of a resource, so the value's schema becomes one."""
    schema = {"$schema": D2019, "type": "array", "items": {"$recursiveRef": "#"}, "maxItems": 1}
    box = wrap_schema(schema, plenty())

    assert [True, True, False, False] == evaluate_all(
        box,
        [{"result": []}, {"result": [[[]]]}, {"result": [[[1]]]}, {"result": [{"result": []}]}],
    )
    assert schema == unwrap_schema(box, plenty())


def test_definitions_of_older_drafts_are_hoisted() -> None:
    """With the dialect, which holds for all of the box."""
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
    } == wrap_schema(schema, plenty())


BOX: Any = {"type": "object", "required": ["v"], "x-dedalus-box": {"field": "v"}}
NODE = {"items": {"$ref": "#/$defs/n"}}


@pytest.mark.parametrize(
    ("expected", "box"),
    [
        pytest.param(None, {"type": "object", "properties": {"result": {}}}, id="no mark"),
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
def test_what_is_taken_out_of_a_box(expected: Any, box: Any) -> None:
    """By the mark alone."""
    assert expected == unwrap_schema(box, plenty())


@pytest.mark.parametrize(
    "value",
    [
        {"items": {"$ref": "#"}},
        {"items": {"$ref": "#/required"}},
        {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "string"}}},
    ],
)
def test_what_needs_its_box_cannot_be_taken_out(value: Any) -> None:
    """Its references would lead elsewhere."""
    with pytest.raises(RequestError) as excinfo:
        unwrap_schema({**BOX, "properties": {"v": value}, "$defs": {"n": {}}}, plenty())

    assert "INVALID_TOOL" == excinfo.value.reason.value


@pytest.mark.parametrize("edition", EDITIONS, ids=[edition.name for edition in EDITIONS])
def test_a_box_admits_a_value_exactly_if_the_schema_does(edition: Edition) -> None:
    """Random schemas with references of all kinds, before three judges; and back again."""
    random = Random(f"boxes {edition.name}")
    told: set[bool] = set()
    for _ in range(SCHEMAS):
        generated = generate_schema(random, edition)
        question = generated.question
        schema = {"$schema": edition.uri, **question.schema}
        before = copy.deepcopy(schema)
        box = wrap_schema(schema, plenty())
        again = unwrap_schema(box, plenty())
        assert before == schema
        assert canonical_json(schema) == canonical_json(again)
        one, other = (
            create_engines(Question(edition, each, question.documents)) for each in (schema, box)
        )
        if not isinstance(one, Engines):
            assert type(one) is type(other)
            continue
        assert isinstance(other, Engines), (schema, box, other)
        maker = PayloadMaker(random, generated.follow, names=generated.names)
        for _ in range(PAYLOADS):
            value = json.loads(json.dumps(maker.make(question.schema)))
            verdicts = _verdicts(one, value)
            assert verdicts == _verdicts(other, {"result": value}), (schema, box, value)
            told |= {*verdicts.values()}

    assert {True, False} == told


def _verdicts(judging: Engines, value: Any) -> dict[str, bool]:
    """Return what each judge says; nothing if it takes one of them too long."""
    try:
        engines = {
            "complete": judging.compiled.complete.is_valid(value, plenty()),
            "jsonschema-rs": judging.oracle.is_valid(value),
        }
    except Exhausted:
        return {}
    return engines
