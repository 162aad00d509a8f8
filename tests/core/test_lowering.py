"""Lowering of every keyword of every dialect to the canonical form."""

from typing import Any

import pytest
from sidecheck_server.core.compiler.lowering import lower_schema
from sidecheck_server.core.schemas.canonical import CannotLowerError, Constant, LoweredSchema
from support.compiling import D04, D06, D07, D2019, D2020, compile_value, evaluate_all, survey_of

STRING, LOWERED = {"type": "string"}, {"type": ["string"]}
OPEN, OPENED = {"minProperties": 1}, {"minProperties": 1}

# Of each case the schema, and the canonical form of its root.
ASSERTIONS: dict[str, Any] = {
    "nothing": [{}, {}],
    "annotations": [
        {"title": "a", "description": "b", "default": 1, "examples": [2], "deprecated": True},
        {},
    ],
    "unknown keywords": [{"x-a": 1, "discriminator": {}, "minimun": 5, "const ": 3}, {}],
    "identifiers": [{"$id": "urn:a", "$anchor": "b", "$comment": "c"}, {}],
    "content": [{"contentEncoding": "base64", "contentMediaType": "a/b", "contentSchema": {}}, {}],
    "a type": [{"type": "integer"}, {"type": ["integer"]}],
    "types": [{"type": ["string", "null"]}, {"type": ["string", "null"]}],
    "an integer of draft 4": [
        {"$schema": D04, "type": ["integer", "number"]},
        {"type": ["int", "number"]},
    ],
    "an enumeration": [{"enum": ["a", 1, None]}, {"enum": ["a", 1, None]}],
    "a constant": [{"const": "a"}, {"enum": ["a"]}],
    "a constant and an enumeration": [
        {"const": 1, "enum": [1, 2]},
        {"allOf": [{"enum": [1]}, {"enum": [1, 2]}]},
    ],
    "a constant before there were any": [{"$schema": D04, "const": 1}, {}],
    "bounds": [{"minimum": 1, "exclusiveMaximum": 2.5}, {"minimum": 1, "exclusiveMaximum": 2.5}],
    "exclusive bounds of draft 4": [
        {
            "$schema": D04,
            "minimum": 1,
            "exclusiveMinimum": True,
            "maximum": 2,
            "exclusiveMaximum": False,
        },
        {"exclusiveMinimum": 1, "maximum": 2},
    ],
    "an exclusive bound alone in draft 4": [{"$schema": D04, "exclusiveMinimum": True}, {}],
    "sizes": [
        {"minLength": 1, "maxLength": 2, "minItems": 3, "maxItems": 4, "maxProperties": 5},
        {"minLength": 1, "maxLength": 2, "minItems": 3, "maxItems": 4, "maxProperties": 5},
    ],
    "names": [{"required": ["a", "b"]}, {"required": ["a", "b"]}],
    "unique items": [{"uniqueItems": True}, {"uniqueItems": True}],
    "items that need not be": [{"uniqueItems": False}, {}],
    "multiples": [{"multipleOf": 0.5}, {"multipleOf": 0.5}],
    "a format that is an annotation": [{"format": "ipv4"}, {}],
}
APPLICATORS: dict[str, Any] = {
    "properties": [
        {"properties": {"a": STRING, "b": True, "c": False}},
        {"properties": {"a": LOWERED, "b": True, "c": False}},
    ],
    "a closed object": [{"additionalProperties": False}, {"additionalProperties": False}],
    "an open object": [{"additionalProperties": {}, "properties": {}}, {"properties": {}}],
    "names of properties": [{"propertyNames": STRING}, {"propertyNames": LOWERED}],
    "names of properties in draft 4": [{"$schema": D04, "propertyNames": STRING}, {}],
    "items": [{"items": STRING}, {"items": LOWERED}],
    "first items and others": [
        {"items": False, "prefixItems": [STRING, True]},
        {"items": [LOWERED, True], "additionalItems": False},
    ],
    "first items": [{"prefixItems": [STRING]}, {"items": [LOWERED]}],
    "listed items of draft 7": [
        {"$schema": D07, "items": [STRING], "additionalItems": OPEN, "prefixItems": [True]},
        {"items": [LOWERED], "additionalItems": OPENED},
    ],
    "additional items beside one schema": [
        {"$schema": D07, "items": STRING, "additionalItems": False},
        {"items": LOWERED},
    ],
    "additional items after 2019-09": [{"additionalItems": False, "items": True}, {"items": True}],
    "contains": [{"contains": STRING}, {"contains": LOWERED, "minContains": 1}],
    "contains so many": [
        {"contains": STRING, "minContains": 0, "maxContains": 2},
        {"contains": LOWERED, "minContains": 0, "maxContains": 2},
    ],
    "contains none or more": [{"contains": STRING, "minContains": 0}, {}],
    "contains, not counted before 2019-09": [
        {"$schema": D06, "contains": STRING, "minContains": 0, "maxContains": 2},
        {"contains": LOWERED, "minContains": 1},
    ],
    "numbers of contained items alone": [{"minContains": 2, "maxContains": 1}, {}],
    "dependencies": [
        {"dependencies": {"a": ["b"], "b": STRING}},
        {"dependencies": {"a": ["b"], "b": LOWERED}},
    ],
    "dependencies in two": [
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": STRING}},
        {"allOf": [{"dependencies": {"a": ["b"]}}, {"dependencies": {"a": LOWERED}}]},
    ],
    "dependencies that are none": [{"dependentRequired": {}}, {}],
    "not": [{"not": STRING}, {"not": LOWERED}],
    "if": [
        {"if": STRING, "then": OPEN, "else": False},
        {"if": LOWERED, "then": OPENED, "else": False},
    ],
    "if alone": [{"if": STRING}, {}],
    "then alone": [{"then": STRING, "else": False}, {}],
    "if before there was any": [{"$schema": D06, "if": STRING, "then": False}, {}],
    "allOf alone": [{"allOf": [STRING]}, LOWERED],
    "allOf beside others": [
        {"minLength": 1, "allOf": [STRING, True, {}, OPEN]},
        {"allOf": [{"minLength": 1}, LOWERED, OPENED]},
    ],
    "a union that is no simpler": [{"anyOf": [OPEN, STRING]}, {"anyOf": [OPENED, LOWERED]}],
    "a union of types": [
        {"oneOf": [{"type": "null"}, {"type": "string", "minLength": 1}], "title": "a"},
        {"type": ["null", "string"], "minLength": 1},
    ],
    "unevaluated members": [
        {"properties": {"a": STRING}, "unevaluatedProperties": False},
        {
            "allOf": [
                {"properties": {"a": LOWERED}},
                {"properties": {"a": True}, "patternProperties": {}, "additionalProperties": False},
            ]
        },
    ],
    "unevaluated items": [
        {"prefixItems": [STRING], "unevaluatedItems": False},
        {"allOf": [{"items": [LOWERED]}, {"items": [True], "additionalItems": False}]},
    ],
    "unevaluated members where none are left": [
        {"additionalProperties": True, "unevaluatedProperties": False},
        {},
    ],
    "definitions": [{"$defs": {"a": STRING}, "definitions": {"b": STRING}}, {}],
}
D1, D2 = {"$ref": "#/definitions/d1"}, {"$ref": "#/definitions/d2"}
# Of each case the schema, and all definitions.
REFERENCES: dict[str, Any] = {
    "a reference": [{"$ref": "#/$defs/a b", "$defs": {"a b": STRING}}, {"d0": D1, "d1": LOWERED}],
    "a reference and its siblings": [
        {"$ref": "#/$defs/a", "minLength": 1, "$defs": {"a": STRING}},
        {"d0": {"allOf": [{"minLength": 1}, D1]}, "d1": LOWERED},
    ],
    "a reference that hides its siblings": [
        {"$schema": D07, "$ref": "#/definitions/a", "minLength": 1, "definitions": {"a": STRING}},
        {"d0": D1, "d1": LOWERED},
    ],
    "a reference to the root": [
        {"properties": {"a": {"$ref": "#"}}},
        {"d0": {"properties": {"a": {"$ref": "#/definitions/d0"}}}},
    ],
    "references to one schema": [
        {
            "items": {"$ref": "#/$defs/a"},
            "contains": {"$ref": "#b"},
            "$defs": {"a": {"$anchor": "b", **STRING}},
        },
        {"d0": {"items": D1, "contains": D1, "minContains": 1}, "d1": LOWERED},
    ],
    "references to booleans": [
        {
            "items": {"$ref": "#/$defs/a"},
            "not": {"$ref": "#/$defs/b"},
            "$defs": {"a": True, "b": False},
        },
        {"d0": {"items": {}, "not": False}},
    ],
    "names that differ by case": [
        {
            "items": {"$ref": "#/$defs/a"},
            "not": {"$ref": "#/$defs/A"},
            "$defs": {"a": STRING, "A": OPEN},
        },
        {"d0": {"items": D1, "not": D2}, "d2": OPENED, "d1": LOWERED},
    ],
    "a recursive reference of 2019-09": [
        {"$schema": D2019, "items": {"$recursiveRef": "#"}},
        {"d0": {"items": {"$ref": "#/definitions/d0"}}},
    ],
}
NOT_LOWERED: dict[str, Any] = {
    "unevaluated members beside a condition": [
        {"if": True, "unevaluatedProperties": False},
        "unevaluatedProperties beside a conditional applicator",
    ],
    "unevaluated items beside contains": [
        {"contains": True, "unevaluatedItems": False},
        "unevaluatedItems beside contains",
    ],
    "a dynamic reference": [
        {
            "$ref": "m",
            "$defs": {"m": {"$id": "m", "$dynamicAnchor": "a", "items": {"$dynamicRef": "#a"}}},
        },
        "a $dynamicRef that depends on the path of evaluation",
    ],
    "a recursive reference": [
        {
            "$schema": D2019,
            "$ref": "m",
            "$defs": {"m": {"$id": "m", "$recursiveAnchor": True, "items": {"$recursiveRef": "#"}}},
        },
        "a $recursiveRef that depends on the path of evaluation",
    ],
}


def table(cases: dict[str, Any]) -> list[Any]:
    return [pytest.param(*case, id=name) for name, case in cases.items()]


def lowered(schema: Any, *, assert_formats: bool = False) -> LoweredSchema:
    return lower_schema(survey_of(schema), lambda _dialect, _name: assert_formats)


@pytest.mark.parametrize(("schema", "expected"), table(ASSERTIONS | APPLICATORS))
def test_every_keyword_has_its_canonical_form(schema: Any, expected: Any) -> None:
    """Keywords without effect have none."""
    assert LoweredSchema({"d0": expected}) == lowered(schema)


@pytest.mark.parametrize(("schema", "definitions"), table(REFERENCES))
def test_definitions_are_counted(schema: Any, definitions: Any) -> None:
    """Their names do not matter; only referenced definitions count."""
    assert LoweredSchema(definitions) == lowered(schema)


@pytest.mark.parametrize(("schema", "reason"), table(NOT_LOWERED))
def test_inexpressible_keywords_are_not_lowered(schema: Any, reason: str) -> None:
    """The reason says why only the complete engine evaluates the schema."""
    with pytest.raises(CannotLowerError) as excinfo:
        lowered(schema)

    assert reason == excinfo.value.reason
    assert (None, reason) == (
        compile_value(schema).fast,
        compile_value(schema).complete_only_reason,
    )


def test_texts_are_numbered() -> None:
    """Patterns and formats once each; constants that are no scalars one by one."""
    expression = lowered(
        {
            "pattern": "a",
            "format": "ipv4",
            "patternProperties": {"b": True, "a": {"pattern": "b", "format": "ipv4"}},
            "enum": [[1], "x", {"a": [1]}],
            "const": [1],
        },
        assert_formats=True,
    )

    assert {"a": 0, "b": 1} == expression.patterns
    assert {"ipv4": 0} == expression.formats
    assert [[1], {"a": [1]}, [1]] == expression.constants
    assert {
        "d0": {
            "allOf": [
                {
                    "pattern": 0,
                    "format": 0,
                    "patternProperties": {1: True, 0: {"pattern": 1, "format": 0}},
                    "enum": [Constant(0), "x", Constant(1)],
                },
                {"enum": [Constant(2)]},
            ]
        }
    } == expression.definitions


def test_deep_subschemas_become_definitions() -> None:
    """So generated code stays within CPython's nesting limits."""
    schema: Any = STRING
    for _ in range(12):
        schema = {"not": schema}
    inner = {"not": {"not": {"not": {"not": {"not": D1}}}}}

    assert {
        "d0": inner,
        "d1": {"not": {"not": {"not": {"not": {"not": D2}}}}},
        "d2": {"not": {"not": LOWERED}},
    } == lowered(schema).definitions
    assert [True, False] == evaluate_all(schema, ["a", 1])


def test_the_default_dialect_is_2020_12() -> None:
    """It may be declared or not."""
    schema = {"prefixItems": [STRING]}

    assert lowered(schema) == lowered({"$schema": D2020, **schema})
