"""Decoders lead to every encoded location, and to no others."""

from typing import Any

import pytest
from sidecheck_server.core.convert.argument_decoder import build_decoder
from sidecheck_server.core.convert.decode_arguments import decode_arguments
from sidecheck_server.core.convert.mapping import ToolMapping, mapping_from_json, mapping_to_json
from sidecheck_server.core.convert.schema_graph import Encoding, SchemaNode
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from support.transformed_nodes import (
    BY_NAME,
    NULL,
    STRING,
    TEXT,
    entries,
    never,
    node,
    nulls,
    object_node,
    text,
)


@pytest.mark.parametrize(
    ("root", "decoder"),
    [
        pytest.param(object_node(a=STRING), None, id="nothing is encoded"),
        pytest.param(object_node(nulls("a"), a=STRING), {"nulls": ["a"]}, id="nulls"),
        pytest.param(
            object_node(Encoding(renamed={"a_b": "a b"}), a_b=STRING),
            {"renamed": {"a_b": "a b"}},
            id="renamed",
        ),
        pytest.param(
            object_node(a=STRING, b=object_node(c=text())),
            {"properties": {"b": {"properties": {"c": TEXT}}}},
            id="properties on the way",
        ),
        pytest.param(
            node(properties={"a": STRING}, additionalProperties=text()),
            {"properties": {"a": {}}, "values": TEXT},
            id="declared properties are not among the others",
        ),
        pytest.param(node(items=text()), {"items": TEXT}, id="items"),
        pytest.param(
            node(prefixItems=[STRING, text(), STRING]), {"prefix": [None, TEXT]}, id="first items"
        ),
        pytest.param(
            node(prefixItems=[STRING, STRING], items=text()),
            {"prefix": [None, None], "items": TEXT},
            id="items after the first ones",
        ),
        pytest.param(entries(STRING), {"entries": BY_NAME}, id="entries"),
        pytest.param(entries(text()), {"entries": {**BY_NAME, "each": TEXT}}, id="entries of text"),
        pytest.param(
            node(
                Encoding(wrapped="input"),
                type="object",
                properties={"input": object_node(nulls("a"))},
                required=["input"],
            ),
            {"wrapped": "input", "inner": {"nulls": ["a"]}},
            id="wrapped",
        ),
        pytest.param(
            node(Encoding(wrapped="input"), properties={"input": STRING}),
            {"wrapped": "input"},
            id="wrapped and nothing else",
        ),
        pytest.param(
            object_node(nulls("a"), a=node(anyOf=[entries(STRING), NULL])),
            {
                "nulls": ["a"],
                "properties": {
                    "a": {
                        "any_of": [
                            {"when": {"types": ["array"]}, "as": {"entries": BY_NAME}},
                            {"when": {"types": ["null"]}},
                        ]
                    }
                },
            },
            id="through the union with null",
        ),
        pytest.param(node(anyOf=[STRING, NULL]), None, id="a union that leads nowhere"),
        pytest.param(
            node(anyOf=[STRING, text()], oneOf=[text(), never()]),
            {
                "any_of": [
                    {"when": {"types": ["string"]}},
                    {"when": {"types": ["string"]}, "as": TEXT},
                ],
                "also": [{"any_of": [{"when": {"types": ["string"]}, "as": TEXT}]}],
            },
            id="two unions",
        ),
        pytest.param(
            node(allOf=[STRING, object_node(nulls("a"))]), {"also": [{"nulls": ["a"]}]}, id="allOf"
        ),
        pytest.param(
            node(**{"not": text(), "if": text(), "contains": text(), "propertyNames": text()}),
            None,
            id="where nothing is encoded",
        ),
        pytest.param(
            object_node(a=node(ref=text()), b=node(ref=STRING)),
            {"properties": {"a": {"ref": "d0"}}, "defs": {"d0": TEXT}},
            id="references to an encoding only",
        ),
    ],
)
def test_a_decoder_mirrors_the_paths_to_encoded_locations(
    root: SchemaNode, decoder: dict[str, Any] | None
) -> None:
    assert decoder == build_decoder(root)


def test_a_shared_node_has_one_decoder() -> None:
    """The number of paths to it does not matter."""
    shared = text()
    root = object_node(a=shared, b=node(items=shared), c=node(ref=shared))
    reference = {"ref": "d0"}

    assert {
        "properties": {"a": reference, "b": {"items": reference}, "c": reference},
        "defs": {"d0": TEXT},
    } == build_decoder(root)


def test_a_recursive_schema_has_a_recursive_decoder() -> None:
    root = object_node(nulls("a"), a=STRING)
    root.keywords["properties"]["again"] = node(anyOf=[node(ref=root), NULL])
    repeated = {
        "any_of": [
            {"when": {"types": ["object"]}, "as": {"ref": "d0"}},
            {"when": {"types": ["null"]}},
        ]
    }

    assert {
        "ref": "d0",
        "defs": {"d0": {"nulls": ["a"], "properties": {"again": repeated}}},
    } == build_decoder(root)


def nested(depth: int) -> SchemaNode:
    decoder = text()
    for _ in range(depth):
        decoder = object_node(a=node(anyOf=[decoder, NULL]))
    return decoder


def test_a_mapping_nests_less_than_its_schema() -> None:
    """Deep decoders are moved to `defs`, and still work."""
    decoder = build_decoder(nested(60))
    mapping = ToolMapping(
        ModelApi.OPENAI_CHAT, "n", "", "t", "sha256:" + "0" * 64, strict=True, decoder=decoder
    )
    value: Any = "[1]"
    restored: Any = [1]
    for _ in range(60):
        value, restored = {"a": value}, {"a": restored}
    (reading,) = decode_arguments(
        value, mapping_from_json(mapping_to_json(mapping), Limits()).decoder, [100_000]
    )

    assert restored == reading.value


def test_a_very_deep_schema_is_walked_without_recursion() -> None:
    assert build_decoder(nested(1200)) is not None


@pytest.mark.parametrize(
    "root",
    [
        pytest.param(object_node(**{f"member_{n:05}": text() for n in range(5000)}), id="text"),
        pytest.param(
            node(properties={f"{n:x}": STRING for n in range(10_000)}, additionalProperties=text()),
            id="decoders",
        ),
    ],
)
def test_a_decoder_too_large_for_a_mapping_is_rejected(root: SchemaNode) -> None:
    """A mapping must be readable again."""
    with pytest.raises(RequestError) as excinfo:
        build_decoder(root)

    assert ErrorReason.NOT_CONVERTIBLE is excinfo.value.reason
    assert {"bound": "mapping", "limit": "131072"} == excinfo.value.metadata
