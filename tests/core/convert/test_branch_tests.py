"""Branches of unions are known by cheap tests."""

from typing import Any

import pytest
from sidecheck_server.core.convert.guides import guide_of
from sidecheck_server.core.convert.part import Part
from support.transformed_nodes import (
    NULL,
    STRING,
    an_object,
    closed,
    entries,
    never,
    part,
    text,
)


@pytest.mark.parametrize(
    ("branch", "test"),
    [
        pytest.param(part(), {}, id="anything"),
        pytest.param(part(type=["string", "null"]), {"types": ["null", "string"]}, id="types"),
        pytest.param(part(type="number"), {"types": ["number"]}, id="integers are numbers"),
        pytest.param(
            part(type="number", allOf=[part(type=["integer", "string"])]),
            {"types": ["integer"]},
            id="types of all parts",
        ),
        pytest.param(part(const=1.0), {"types": ["number"]}, id="the type of a constant"),
        pytest.param(
            part(enum=[None, True]), {"types": ["boolean", "null"]}, id="those of an enum"
        ),
        pytest.param(part(anyOf=[STRING, NULL]), {"types": ["null", "string"]}, id="of a union"),
        pytest.param(part(anyOf=[STRING, part()]), {}, id="of a union with anything"),
        pytest.param(part(ref=part(type="array")), {"types": ["array"]}, id="of a reference"),
        pytest.param(
            part(type="array", required=["a"]), {"types": ["array"]}, id="no members of an array"
        ),
        pytest.param(
            part(required=["a"], properties={"b": STRING}),
            {"required": ["a"]},
            id="required without a type",
        ),
        pytest.param(
            closed(a=STRING),
            {"types": ["object"], "required": ["a"], "only": ["a"]},
            id="a closed object",
        ),
        pytest.param(
            part(type="object", additionalProperties=never()),
            {"types": ["object"], "only": []},
            id="an object without members",
        ),
        pytest.param(
            part(type="object", additionalProperties=never(), patternProperties={"^a": STRING}),
            {"types": ["object"]},
            id="an object that is closed but for patterns",
        ),
        pytest.param(
            part(ref=an_object(kind=part(const="a")), required=["kind"]),
            {"types": ["object"], "required": ["kind"], "constants": {"kind": ["a"]}},
            id="a constant member",
        ),
        pytest.param(
            an_object(a=part(anyOf=[part(enum=[1, 2]), NULL])),
            {"types": ["object"], "constants": {"a": [1, 2, None]}},
            id="a few constants or null",
        ),
        pytest.param(
            an_object(a=part(enum=list(range(21))), b=part(const=[1])),
            {"types": ["object"]},
            id="too many constants and one that is no scalar",
        ),
    ],
)
def test_a_branch_is_known_by_what_it_admits(branch: Part, test: dict[str, Any]) -> None:
    """A test asks for no more than the branch does."""
    guide = guide_of(part(anyOf=[branch, text()]))

    assert guide is not None
    assert test == guide["any_of"][0]["when"]


def test_tests_have_little_room() -> None:
    """A branch with more names than that is known by its types."""
    large = closed(**{f"member_{n:05}": STRING for n in range(3000)})
    guide = guide_of(part(anyOf=[large, entries(STRING)]))

    assert guide is not None
    assert {"types": ["object"]} == guide["any_of"][0]["when"]


def test_a_loop_of_references_has_no_types() -> None:
    """Nothing that is walked goes on without end."""
    one = part()
    one.keywords["$ref"] = one
    two = part()
    two.keywords["anyOf"] = [two, two]
    guide = guide_of(part(anyOf=[one, two, text()]))

    assert guide is not None
    assert [{}, {}, {"types": ["string"]}] == [each["when"] for each in guide["any_of"]]


def test_unions_of_unions_are_not_walked_without_end() -> None:
    """Each of a hundred branches leads back to all of them."""
    hundred = part()
    hundred.keywords["anyOf"] = [part(ref=hundred) for _ in range(100)]
    hundred.keywords["properties"] = {f"a{n}": part(ref=hundred) for n in range(100)}
    guide = guide_of(part(anyOf=[hundred, text()]))

    assert guide is not None
    assert {} == guide["any_of"][0]["when"]
