"""Nodes are written in the spelling of a subset."""

from typing import Any

import pytest
from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.tool_conversion import write_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from support.core_conversion import ALL, read, written

PLAIN = Subset()
OPENAPI = Subset(
    nullable=True, upper_case_types=True, enum_of_strings=True, references=References.NOWHERE
)
NULL = {"type": "null"}


CASES: list[tuple[str, Subset, Any, Any]] = [
    (
        "keywords in their order",
        PLAIN,
        {"description": "d", "type": "object", "properties": {}},
        {"description": "d", "type": "object", "properties": {}},
    ),
    (
        "names of definitions are made plain, and unique",
        PLAIN,
        {
            "items": {"$ref": "#/$defs/a.b"},
            "contains": {"$ref": "#/$defs/a%20b"},
            "$defs": {"a.b": {"type": "null"}, "a b": {}},
        },
        {
            "items": {"$ref": "#/$defs/a_b"},
            "contains": {"$ref": "#/$defs/a_b_2"},
            "$defs": {"a_b": {"type": "null"}, "a_b_2": {}},
        },
    ),
    (
        "what a reference leads to is a definition wherever it stands",
        PLAIN,
        {"properties": {"a": {"type": "null"}, "b": {"$ref": "#/properties/a"}}},
        {
            "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"type": "null"}},
        },
    ),
    ("the root", PLAIN, {"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}),
    (
        "false where booleans are no schemas",
        Subset(boolean_schemas=False),
        {"items": False, "properties": {"a": True}, "additionalProperties": False},
        {"items": {"not": {}}, "properties": {"a": {}}, "additionalProperties": False},
    ),
    ("false where they are", PLAIN, {"items": False}, {"items": False}),
    (
        "capitals",
        Subset(upper_case_types=True),
        {"type": ["string", "null"], "const": {"type": "object"}},
        {"type": ["STRING", "NULL"], "const": {"type": "object"}},
    ),
    (
        "nullable, from a list of types",
        OPENAPI,
        {"type": ["string", "null"], "enum": ["a", None]},
        {"type": "STRING", "enum": ["a"], "nullable": True},
    ),
    ("nothing but null", OPENAPI, NULL, {"type": "NULL"}),
    (
        "a reference that may have no siblings",
        Subset(references=References.ALONE),
        {"items": {"$ref": "#", "description": "d"}},
        {"items": {"description": "d", "anyOf": [{"$ref": "#"}]}},
    ),
]


@pytest.mark.parametrize(
    ("subset", "schema", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_written(subset: Subset, schema: Any, expected: Any) -> None:
    root, _ = read(schema)

    result = written(root, subset)

    assert result == expected
    assert list(result) == list(expected)


@pytest.mark.parametrize(
    ("keywords", "notes", "expected"),
    [
        (
            {"description": "How many."},
            ["at least 3", "default: 5"],
            "How many. (at least 3; default: 5)",
        ),
        ({}, ["at least 3"], "(at least 3)"),
        ({}, ["twice", "twice"], "(twice)"),
        ({"description": "Only this"}, [], "Only this"),
    ],
)
def test_notes_are_in_the_description(
    keywords: dict[str, Any], notes: list[str], expected: str
) -> None:
    node = SchemaNode((), {**keywords, "type": "integer"}, notes=notes)

    assert written(node) == {**keywords, "type": "integer", "description": expected}
    assert list(written(node))[-1] == ("type" if keywords else "description")


def test_notes_are_not_written_without_descriptions() -> None:
    node = SchemaNode((), {"type": "integer"}, notes=["at least 3"])

    assert written(node, Subset(keywords=ALL - {"description"})) == {"type": "integer"}


def test_a_note_beside_a_reference() -> None:
    """Rules may add a note to a property whose schema is a reference."""
    target = SchemaNode((), {"type": "null"}, name="N")
    root = SchemaNode((), {"items": SchemaNode((), {"$ref": target}, notes=["n"])})

    assert written(root, Subset(references=References.ALONE)) == {
        "items": {"description": "(n)", "anyOf": [{"$ref": "#/$defs/N"}]},
        "$defs": {"N": {"type": "null"}},
    }


def test_a_node_at_several_places_is_a_definition() -> None:
    shared = SchemaNode(("in", "properties", "p"), {"enum": ["a"]})
    small = SchemaNode(("in", "properties", "q"), {"type": "null"})
    root = SchemaNode((), {"prefixItems": [shared, shared, small, small]})

    assert written(root) == {
        "prefixItems": [
            {"$ref": "#/$defs/p"},
            {"$ref": "#/$defs/p"},
            {"type": "null"},
            {"type": "null"},
        ],
        "$defs": {"p": {"enum": ["a"]}},
    }
    assert written(root, Subset(references=References.NOWHERE)) == {
        "prefixItems": [{"enum": ["a"]}, {"enum": ["a"]}, {"type": "null"}, {"type": "null"}]
    }


def test_repeatedly_shared_nodes_are_written_once() -> None:
    node = SchemaNode(())
    for _ in range(40):
        node = SchemaNode((), {"prefixItems": [node, node]})

    with pytest.raises(RequestError) as excinfo:
        write_schema(node, Subset(references=References.NOWHERE))

    assert excinfo.value.reason is ErrorReason.LIMIT_EXCEEDED
    assert excinfo.value.metadata["bound"] == "subschemas"


def test_writing_is_deterministic() -> None:
    schema = {"items": {"$ref": "#/$defs/b"}, "$defs": {"b": {"contains": {"$ref": "#/$defs/b"}}}}

    assert [written(read(schema)[0]) for _ in range(3)] == [schema] * 3
