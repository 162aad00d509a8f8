"""The complete engine avoids the unsafe behaviour of the library that it is built on."""

import threading
from typing import Any

import pytest
from sidecheck_server.core.limits import Exhausted, Limits
from sidecheck_server.core.schemas.dialects import DIALECTS
from support.complete_engines import engine_for, violations

D04, D07, D2019, D2020 = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
ARABIC_THREE = "٣"


def nested(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = {"a": leaf}
    return leaf


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"$schema": D2020, "pattern": "^\\d$"}, id="at the root"),
        pytest.param(
            {"$schema": D2020, "$ref": "#/$defs/a", "$defs": {"a": {"pattern": "^\\d$"}}},
            id="behind a reference",
        ),
        pytest.param(
            {
                "$schema": D2020,
                "anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"pattern": "^\\d$"}],
            },
            id="behind a reference to the root that declares its dialect",
        ),
        pytest.param(
            {"allOf": [{"$id": "urn:x", "$schema": D07, "pattern": "^\\d$"}]},
            id="in an embedded resource of another dialect",
        ),
        pytest.param(
            {"not": {"not": {"$schema": D07, "pattern": "^\\d$"}}},
            id="beside a $schema that does not count",
        ),
    ],
)
def test_patterns_are_ecma_262_everywhere(schema: Any) -> None:
    """No path leads to the library's own classes, whose patterns are Python's."""
    engine = engine_for(schema)

    assert (True, False) == (engine.is_valid("3"), engine.is_valid(ARABIC_THREE))


@pytest.mark.parametrize(
    ("keyword", "payload"),
    [
        pytest.param("patternProperties", {ARABIC_THREE: 1}, id="patternProperties"),
        pytest.param("unevaluatedProperties", {ARABIC_THREE: 1}, id="unevaluatedProperties"),
        pytest.param("additionalProperties", {ARABIC_THREE: 1}, id="additionalProperties"),
    ],
)
def test_names_are_matched_as_ecma_262_everywhere(keyword: str, payload: Any) -> None:
    """Each keyword that looks at the patterns of names reads them as ECMA-262."""
    schema: dict[str, Any] = {"patternProperties": {"^\\d$": {"type": "integer"}}}
    schema[keyword] = schema.get(keyword, False)
    engine = engine_for(schema)

    assert (True, False) == (engine.is_valid({"3": 1}), engine.is_valid({"3": "x"}))
    assert (keyword == "patternProperties") is engine.is_valid(payload)


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [pytest.param(D04, False, id="draft 4"), pytest.param(D07, True, id="draft 7")],
)
def test_one_point_zero_is_an_integer_since_draft_6(dialect: str, expected: bool) -> None:
    """Draft 4 decides by the notation of a number, later drafts by its value."""
    assert expected is engine_for({"$schema": dialect, "type": "integer"}).is_valid(1.0)


def test_a_reference_in_draft_7_hides_its_siblings() -> None:
    """Siblings of $ref are ignored, including $id."""
    schema = {
        "$schema": D07,
        "properties": {"a": {"$ref": "#/definitions/a", "$id": "urn:other", "maximum": 1}},
        "definitions": {"a": {"type": "integer"}},
    }

    assert engine_for(schema).is_valid({"a": 5})


def test_payload_that_nests_too_deeply_is_a_recursion_error() -> None:
    """The engine raises only subclasses of Exception, never a panic."""
    schema = {
        "anyOf": [
            {"type": "integer"},
            {"type": "object", "properties": {"a": {"$ref": "#"}}, "minProperties": 1},
        ]
    }
    engine = engine_for(schema)
    outcomes: set[bool | None] = set()

    def judge() -> None:
        for levels in range(100, 400, 7):
            try:
                outcomes.add(engine.is_valid(nested(levels, 1)))
                outcomes.add(not engine.is_valid(nested(levels, "x")))
            except RecursionError:
                outcomes.add(None)

    # A separate stack, so that the callers of the test do not matter.
    thread = threading.Thread(target=judge)
    thread.start()
    thread.join()

    assert {True, None} == outcomes


def test_payloads_as_deep_as_the_limit_are_evaluated() -> None:
    """128 levels, the default limit of payloads, fit, in unions and by reference too."""
    schema = {
        "anyOf": [
            {"type": "integer"},
            {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        ]
    }
    engine = engine_for(schema)

    assert (True, False) == (engine.is_valid(nested(128, 1)), engine.is_valid(nested(128, "x")))
    assert 1 == len(list(violations(engine, nested(128, "x"))))


def test_work_is_bounded_in_steps() -> None:
    """A schema that doubles the work at every level of the payload is stopped."""
    branch = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    engine = engine_for({"anyOf": [branch, branch]}, limits=Limits(steps=1_000_000))

    with pytest.raises(Exhausted):
        engine.is_valid(nested(40, 1))


def test_unevaluated_work_is_bounded_in_steps() -> None:
    """The search for evaluated locations takes steps too."""
    doubling = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    schema = {
        "unevaluatedProperties": False,
        "$ref": "#/$defs/d0",
        "$defs": {**doubling, "d40": {"properties": {"a": True}}},
    }

    with pytest.raises(Exhausted):
        engine_for(schema, limits=Limits(steps=1_000_000)).is_valid({"a": 1})


def test_the_payload_is_not_changed() -> None:
    """Defaults are annotations and are not applied."""
    payload: dict[str, Any] = {"a": {}}
    schema = {"properties": {"a": {"properties": {"b": {"default": 1}}}, "c": {"default": 2}}}

    assert engine_for(schema).is_valid(payload)
    assert {"a": {}} == payload


def test_a_part_of_the_keywords_can_be_out_of_force() -> None:
    """A meta-schema without the validation vocabulary makes its keywords annotations."""
    meta = {
        "$schema": D2020,
        "$id": "urn:meta",
        "$vocabulary": {
            "https://json-schema.org/draft/2020-12/vocab/core": True,
            "https://json-schema.org/draft/2020-12/vocab/applicator": True,
        },
    }
    schema = {
        "$schema": "urn:meta",
        "properties": {"a": {"type": "integer"}, "b": False},
        "minContains": 5,
        "contains": True,
    }
    engine = engine_for(schema, documents={"urn:meta": meta})

    assert (True, True, False) == (
        engine.is_valid({"a": "x"}),
        engine.is_valid([1]),
        engine.is_valid({"b": 1}),
    )


def test_the_dialects_of_the_tests_are_supported() -> None:
    """The URIs above name dialects that are known."""
    assert {D04, D07, D2019, D2020} == {
        f"{uri}#" if "draft-0" in uri else uri for uri in DIALECTS if "draft-06" not in uri
    }
