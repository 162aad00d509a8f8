"""Unknown properties: which are reported, and what remains without them."""

import json
from typing import Any

import pytest
from sidecheck_server.core.repair.types import UnknownProperty
from sidecheck_server.core.repair.unknown_properties import (
    find_unknown_properties,
    strip_unknown_properties,
)
from sidecheck_server.core.types import Change, ChangeRule
from support.compiling import D07, D2019
from support.complete_engines import engine_for
from support.repairing import budget

A: dict[str, Any] = {"properties": {"a": {}}}
B: dict[str, Any] = {"properties": {"b": {}}}
AX: dict[str, Any] = {"a": 1, "x": 2}


def unknown(schema: Any, value: Any) -> list[str]:
    """Return the locations of properties that *schema* neither declares nor forbids."""
    original = json.dumps(value)
    pointers = [
        property_.pointer
        for property_ in find_unknown_properties(engine_for(schema), value, budget())
    ]
    assert json.dumps(value) == original
    return pointers


def stripped(schema: Any, value: Any) -> tuple[Any, list[str]]:
    """Return *value* without unknown properties, and their locations."""
    original = json.dumps(value)
    result, changes = strip_unknown_properties(engine_for(schema), value, budget())
    assert json.dumps(value) == original
    assert (result is value) is (changes == ())
    assert {change.rule for change in changes} <= {ChangeRule.UNKNOWN_PROPERTY_REMOVED}
    return result, [change.pointer for change in changes]


UNKNOWN = [
    pytest.param(A, AX, {"a": 1}, ["/x"], id="not among the properties"),
    pytest.param({"properties": {}}, AX, {}, ["/a", "/x"], id="no properties at all"),
    pytest.param({"properties": {"o": A}}, {"o": AX}, {"o": {"a": 1}}, ["/o/x"], id="in a member"),
    pytest.param({"items": A}, [{}, AX], [{}, {"a": 1}], ["/1/x"], id="in an item"),
    pytest.param(
        {"prefixItems": [A], "items": B},
        [{"b": 1}, {"a": 1}],
        [{}, {}],
        ["/0/b", "/1/a"],
        id="in items by their position",
    ),
    pytest.param(
        {"$schema": D07, "items": [A], "additionalItems": B},
        [{"b": 1}, {"a": 1}],
        [{}, {}],
        ["/0/b", "/1/a"],
        id="in items by their position, as they were before",
    ),
    pytest.param(
        {"$schema": D2019, "prefixItems": [A], "items": B},
        [AX],
        [{}],
        ["/0/a", "/0/x"],
        id="in items whatever their position",
    ),
    pytest.param(
        {"items": False, "allOf": [{"prefixItems": [True]}], "unevaluatedItems": A, "contains": B},
        [AX, AX],
        [AX, AX],
        [],
        id="not in items without a subschema",
    ),
    pytest.param(
        {"prefixItems": [True], "unevaluatedItems": A},
        [AX, AX],
        [AX, {"a": 1}],
        ["/1/x"],
        id="in items that nothing else evaluates",
    ),
    pytest.param(
        {"patternProperties": {"^o": A}, "additionalProperties": B},
        {"o": AX, "p": AX},
        {"o": {"a": 1}, "p": {}},
        ["/o/x", "/p/a", "/p/x"],
        id="in members by a pattern, and in others",
    ),
    pytest.param(
        {"properties": {"o": True}, "unevaluatedProperties": A},
        {"o": AX, "p": AX},
        {"o": AX, "p": {"a": 1}},
        ["/p/x"],
        id="in members that nothing else evaluates",
    ),
    pytest.param(
        {"$ref": "#/$defs/a", "$defs": {"a": A}}, AX, {"a": 1}, ["/x"], id="through a reference"
    ),
    pytest.param(
        {"$schema": D07, **B, "$ref": "#/definitions/a", "definitions": {"a": A}},
        {"a": 1, "b": 2},
        {"a": 1},
        ["/b"],
        id="not beside a reference that hides it",
    ),
    pytest.param(
        {"allOf": [A, B]}, {"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1}, ["/c"], id="in no part"
    ),
    pytest.param(
        {"anyOf": [{**A, "required": ["a"]}, {**B, "required": ["b"]}]},
        {"a": 1, "x": 2},
        {"a": 1},
        ["/x"],
        id="not in the branch that applies",
    ),
    pytest.param(
        {"oneOf": [{**A, "required": ["a"]}, {**B, "required": ["b"]}]},
        {"b": 1, "c": 2},
        {"b": 1},
        ["/c"],
        id="not in the only branch that applies",
    ),
    pytest.param(
        {"oneOf": [{**A, "required": ["n"]}, {**B, "required": ["n"]}]},
        {"a": 1, "b": 1, "c": 1},
        {"a": 1, "b": 1},
        ["/c"],
        id="in no branch, if none applies",
    ),
    pytest.param(
        {"anyOf": [{"type": "object", **A, "required": ["n"]}, {"type": "array", **B}]},
        {"a": 1, "b": 1},
        {"a": 1},
        ["/b"],
        id="in no branch of the type, if none applies",
    ),
    pytest.param(
        {"if": {**A, "required": ["a"]}, "then": B, "else": {"properties": {"c": {}}}},
        {"a": 1, "b": 1, "c": 1},
        {"a": 1, "b": 1},
        ["/c"],
        id="not in the branch that is selected",
    ),
    pytest.param(
        {**A, "dependentSchemas": {"a": B, "z": {"properties": {"x": {}}}}},
        {"a": 1, "b": 1, "x": 1},
        {"a": 1, "b": 1},
        ["/x"],
        id="not in the schemas that members bring along",
    ),
]


@pytest.mark.parametrize(("schema", "value", "left", "pointers"), UNKNOWN)
def test_undeclared_properties_are_unknown(
    schema: Any, value: Any, left: Any, pointers: list[str]
) -> None:
    """They are reported, and only they are removed."""
    assert pointers == unknown(schema, value)
    assert (left, pointers) == stripped(schema, value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"type": "object"}, AX, id="no properties are declared"),
        pytest.param({"maxProperties": 3, "required": ["a"]}, AX, id="only counted and required"),
        pytest.param({**A, "additionalProperties": True}, AX, id="additional ones are welcome"),
        pytest.param({**A, "additionalProperties": {}}, AX, id="additional ones may be anything"),
        pytest.param({**A, "additionalProperties": {"type": "integer"}}, AX, id="integers are"),
        pytest.param({**A, "unevaluatedProperties": True}, AX, id="unevaluated ones are welcome"),
        pytest.param(
            {**A, "allOf": [{"additionalProperties": True}]}, AX, id="welcome in another part"
        ),
        pytest.param({**A, "patternProperties": {"^x": {}}}, AX, id="a pattern names it"),
        pytest.param({**A, "required": ["x"]}, AX, id="it is required"),
        pytest.param({**A, "dependentRequired": {"a": ["x"]}}, AX, id="another depends on it"),
        pytest.param({**A, "dependentSchemas": {"x": {}}}, AX, id="others depend on it"),
        pytest.param({"if": A, "then": {"required": ["a"]}}, AX, id="declared only to ask"),
        pytest.param({"not": {**A, "required": ["y"]}}, AX, id="declared only to rule out"),
        pytest.param({"contains": A}, [AX], id="declared only to look for"),
        pytest.param(A, ["x"], id="no object"),
        pytest.param(True, AX, id="no schema to speak of"),
    ],
)
def test_declared_properties_and_open_objects_stay(schema: Any, value: Any) -> None:
    """No property is reported or removed."""
    assert [] == unknown(schema, value)
    assert (value, []) == stripped(schema, value)


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({**A, "additionalProperties": False}, id="no additional properties"),
        pytest.param({**A, "unevaluatedProperties": False}, id="no unevaluated properties"),
        pytest.param({"allOf": [A], "unevaluatedProperties": False}, id="of several parts"),
        pytest.param({**A, "propertyNames": {"enum": ["a"]}}, id="by its name"),
    ],
)
def test_a_forbidden_property_is_not_an_unknown_argument(schema: Any) -> None:
    """It is not reported as unknown as well; removing it makes the payload valid."""
    assert not engine_for(schema).is_valid(AX)
    assert [] == unknown(schema, AX)
    assert ({"a": 1}, ["/x"]) == stripped(schema, AX)


def test_properties_of_an_object_that_may_have_none_are_removed() -> None:
    """The schema is that of a tool without parameters."""
    schema = {"type": "object", "additionalProperties": False}

    assert [] == unknown(schema, {"random": "string"})
    assert ({}, ["/random"]) == stripped(schema, {"random": "string"})


def test_a_declared_but_invalid_property_is_not_removed() -> None:
    """The property is known, so removing it would lose data."""
    schema = {"allOf": [{**A, "additionalProperties": False}, B]}

    assert ({"b": 1}, []) == stripped(schema, {"b": 1})


def test_removal_repeats_while_the_branches_change() -> None:
    """Removal repeats until no unknown property is left."""
    schema = {"anyOf": [{**A, "maxProperties": 2}, {"properties": {"a": {}, "b": {}, "c": {}}}]}
    value = {"a": 1, "b": 1, "x": 1}

    assert ["/x"] == unknown(schema, value)
    assert ({"a": 1, "b": 1}, ["/x"]) == stripped(schema, value)

    turning = {**schema, "anyOf": [{**A, "maxProperties": 1}, {**B, "minProperties": 2}]}

    assert ({}, ["/a", "/x", "/b"]) == stripped(turning, value)


def test_an_unknown_property_is_removed_with_its_contents() -> None:
    """It is not reported separately."""
    schema = {"properties": {}, "unevaluatedProperties": False, "patternProperties": {"^o": A}}

    assert ({"o": {}}, ["/x", "/o/y"]) == stripped(schema, {"x": AX, "o": {"y": AX}})


@pytest.mark.parametrize(
    "hidden", [pytest.param(False, id="shown"), pytest.param(True, id="hidden")]
)
def test_an_unknown_property_is_reported_with_the_nearest_name(hidden: bool) -> None:
    """Present names are not suggested; values show only if they are not hidden."""
    schema = {
        "properties": {"o": {"$ref": "#/$defs/o"}},
        "$defs": {"o": {"properties": {"max_results": {}, "query": {}}}},
    }
    engine = engine_for(schema)
    value: Any = {"o": {"maxResults": 3, "zzz": 1, "query": 1, "Query": 1}}
    first, second, third = (
        ("property",) * 3
        if hidden
        else ('property "maxResults"', 'property "zzz"', 'property "Query"')
    )
    message = "the schema does not know the {}".format
    gone = "removed the {}, which the schema does not know".format
    location = "/properties/o/$ref/properties"

    assert [
        UnknownProperty(
            "/o/maxResults",
            location,
            f'{message(first)}; did you mean "max_results"?',
            "max_results",
        ),
        UnknownProperty("/o/zzz", location, message(second)),
        UnknownProperty("/o/Query", location, message(third)),
    ] == list(find_unknown_properties(engine, value, budget(), hide_values=hidden))
    rule = ChangeRule.UNKNOWN_PROPERTY_REMOVED
    assert (
        {"o": {"query": 1}},
        (
            Change(
                "/o/maxResults",
                rule,
                location,
                f'{gone(first)}; it may be a misspelling of "max_results"',
            ),
            Change("/o/zzz", rule, location, gone(second)),
            Change("/o/Query", rule, location, gone(third)),
        ),
    ) == strip_unknown_properties(engine, value, budget(), hide_values=hidden)


def test_a_deep_payload_of_a_recursive_schema_is_stripped() -> None:
    """The payload has the maximum depth."""
    schema = {"properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}
    value: Any = {"x": 1}
    for _ in range(127):
        value = {"a": value}

    left, pointers = stripped(schema, value)

    assert (["/a" * 127 + "/x"], []) == (pointers, unknown(schema, left))
