"""Whether a subset keeps a schema exactly, and whether payloads may be encoded."""

from collections.abc import Mapping
from typing import Any

import pytest
from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.transforms.rules import TransformContext
from sidecheck_server.core.convert.transforms.static_checks import is_exact, may_encode
from support.core_conversion import read, without

STRING = {"type": "string"}
LIST = {"type": ["string", "null"]}
DEEP = {"items": {"$ref": "#/$defs/d"}, "$defs": {"d": {"minLength": 1}}}

CASES: list[tuple[bool, Subset, Any]] = [
    (True, Subset(), DEEP),
    (False, without("minLength"), DEEP),
    (True, without("format", "title"), {"format": "date", "title": "T"}),
    (True, without("const"), {"const": 1}),
    (False, without("const", "enum"), {"const": 1}),
    (True, Subset(boolean_schemas=False), {"items": False}),
    (False, without("not", boolean_schemas=False), {"items": False}),
    (False, Subset(closed=True), {"type": "object"}),
    (False, Subset(closed=True), {"minLength": 1}),
    (False, Subset(all_required=True), {"type": "string", "required": ["a"]}),
    (True, Subset(closed=True, all_required=True), STRING),
    (False, Subset(typed=True), {"minLength": 1}),
    (True, Subset(typed=True), {**STRING, "minLength": 1}),
    (True, Subset(type_lists=True), LIST),
    (False, Subset(type_lists=False), LIST),
    (False, Subset(items=True), {"type": "array"}),
    (True, Subset(enum_of_strings=True), {"enum": ["a"]}),
    (False, Subset(enum_of_strings=True), {"enum": ["a", 1]}),
    (True, Subset(min_items=frozenset({0, 1})), {"minItems": 1}),
    (False, Subset(min_items=frozenset({0, 1})), {"minItems": 2}),
    (False, Subset(empty_objects=False), {"type": "object"}),
    (True, Subset(empty_objects=False), {"type": "object", "properties": {"a": STRING}}),
    (True, Subset(), {"pattern": r"^[a-z]+\d{2}\.$"}),
    (False, Subset(), {"pattern": r"^(?:a|b)"}),
    (False, Subset(), {"patternProperties": {r"\p{L}": True}}),
    (False, Subset(references=References.ALONE), {"items": {"$ref": "#", "minItems": 1}}),
    (True, Subset(references=References.ALONE), {"items": {"$ref": "#", "title": "T"}}),
]


def context(
    schema: Any, subset: Subset, properties: Mapping[str, str] | None = None
) -> TransformContext:
    root, log = read(schema)
    return TransformContext(root, subset, properties or {}, log)


@pytest.mark.parametrize(("exact", "subset", "schema"), CASES)
def test_exactness(exact: bool, subset: Subset, schema: Any) -> None:
    transform_context = context(schema, subset)

    assert is_exact(transform_context.root, transform_context) is exact


def test_a_widened_node_is_not_exact() -> None:
    transform_context = context(STRING, Subset())
    transform_context.root.notes.append("at least 3 characters")

    assert not is_exact(transform_context.root, transform_context)


@pytest.mark.parametrize(
    "subset", [Subset(closed=True), Subset(all_required=True), Subset(typed=True)]
)
def test_strict_subsets_may_encode(subset: Subset) -> None:
    transform_context = context(STRING, subset)

    assert may_encode(transform_context.root, transform_context)


def test_renamed_properties_are_encoded() -> None:
    schema = {"items": {"properties": {"a b": STRING}}}

    for properties, encoded in (({"a b": "a_b"}, True), ({"c d": "c_d"}, False), ({}, False)):
        transform_context = context(schema, Subset(), properties)
        assert may_encode(transform_context.root, transform_context) is encoded
        assert is_exact(transform_context.root, transform_context) is not encoded
