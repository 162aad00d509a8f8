"""Tests of union branches."""

from typing import Any

import pytest
from sidecheck_server.core.convert.argument_decoder import build_decoder
from sidecheck_server.core.convert.schema_graph import SchemaNode
from support.transformed_nodes import (
    NULL,
    STRING,
    closed,
    entries,
    never,
    node,
    object_node,
    text,
)


@pytest.mark.parametrize(
    ("branch", "test"),
    [
        pytest.param(node(), {}, id="anything"),
        pytest.param(node(type=["string", "null"]), {"types": ["null", "string"]}, id="types"),
        pytest.param(node(type="number"), {"types": ["number"]}, id="integers are numbers"),
        pytest.param(
            node(type="number", allOf=[node(type=["integer", "string"])]),
            {"types": ["integer"]},
            id="types of all nodes",
        ),
        pytest.param(node(const=1.0), {"types": ["number"]}, id="the type of a constant"),
        pytest.param(
            node(enum=[None, True]), {"types": ["boolean", "null"]}, id="those of an enum"
        ),
        pytest.param(node(anyOf=[STRING, NULL]), {"types": ["null", "string"]}, id="of a union"),
        pytest.param(node(anyOf=[STRING, node()]), {}, id="of a union with anything"),
        pytest.param(node(ref=node(type="array")), {"types": ["array"]}, id="of a reference"),
        pytest.param(
            node(type="array", required=["a"]), {"types": ["array"]}, id="no properties of an array"
        ),
        pytest.param(
            node(required=["a"], properties={"b": STRING}),
            {"required": ["a"]},
            id="required without a type",
        ),
        pytest.param(
            closed(a=STRING),
            {"types": ["object"], "required": ["a"], "only": ["a"]},
            id="a closed object",
        ),
        pytest.param(
            node(type="object", additionalProperties=never()),
            {"types": ["object"], "only": []},
            id="an object without properties",
        ),
        pytest.param(
            node(type="object", additionalProperties=never(), patternProperties={"^a": STRING}),
            {"types": ["object"]},
            id="an object that is closed but for patterns",
        ),
        pytest.param(
            node(ref=object_node(kind=node(const="a")), required=["kind"]),
            {"types": ["object"], "required": ["kind"], "constants": {"kind": ["a"]}},
            id="a constant property",
        ),
        pytest.param(
            object_node(a=node(anyOf=[node(enum=[1, 2]), NULL])),
            {"types": ["object"], "constants": {"a": [1, 2, None]}},
            id="a few constants or null",
        ),
        pytest.param(
            object_node(a=node(enum=list(range(21))), b=node(const=[1])),
            {"types": ["object"]},
            id="too many constants and one that is no scalar",
        ),
    ],
)
def test_a_test_is_no_stricter_than_its_branch(branch: SchemaNode, test: dict[str, Any]) -> None:
    decoder = build_decoder(node(anyOf=[branch, text()]))

    assert decoder is not None
    assert test == decoder["any_of"][0]["when"]


def test_tests_have_limited_text() -> None:
    """A branch with more names than that has a test of types only."""
    large = closed(**{f"member_{n:05}": STRING for n in range(3000)})
    decoder = build_decoder(node(anyOf=[large, entries(STRING)]))

    assert decoder is not None
    assert {"types": ["object"]} == decoder["any_of"][0]["when"]


def test_a_cycle_of_references_has_no_types() -> None:
    """The search ends."""
    item = node()
    item.keywords["$ref"] = item
    second = node()
    second.keywords["anyOf"] = [second, second]
    decoder = build_decoder(node(anyOf=[item, second, text()]))

    assert decoder is not None
    assert [{}, {}, {"types": ["string"]}] == [item["when"] for item in decoder["any_of"]]


def test_nested_unions_are_visited_to_a_limit() -> None:
    """Each of a hundred branches leads back to all of them."""
    hundred = node()
    hundred.keywords["anyOf"] = [node(ref=hundred) for _ in range(100)]
    hundred.keywords["properties"] = {f"a{n}": node(ref=hundred) for n in range(100)}
    decoder = build_decoder(node(anyOf=[hundred, text()]))

    assert decoder is not None
    assert {} == decoder["any_of"][0]["when"]
