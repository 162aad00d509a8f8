"""Objects of a union begin with different members, where an API wants that."""

from dataclasses import replace
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError

from .parts import CLOSED, fitted_member

ARRANGED = replace(CLOSED, first_members_differ=True)
TOLD = ("properties", "rewritten", "same")


def union(*objects: list[str], **constants: list[str]) -> dict[str, Any]:
    """Return a union of closed objects with these members; a constant has a value in each."""
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    name: {"type": "string"}
                    | ({"const": constants[name][place]} if name in constants else {})
                    for name in names
                },
                "required": names,
                "additionalProperties": False,
            }
            for place, names in enumerate(objects)
        ]
    }


def orders(schema: dict[str, Any]) -> list[list[str]]:
    """Return the members of each object of a union, in order."""
    return [list(branch["properties"]) for branch in schema["anyOf"]]


@pytest.mark.parametrize(
    ("given", "expected", "told"),
    [
        pytest.param(
            union(["a", "b"], ["c", "b"]), [["a", "b"], ["c", "b"]], [], id="different as they are"
        ),
        pytest.param(
            union(["a", "b"], ["a", "c"]), [["a", "b"], ["c", "a"]], [TOLD], id="one is turned"
        ),
        pytest.param(
            union(["kind", "a"], ["kind", "a"], kind=["x", "y"]),
            [["kind", "a"], ["kind", "a"]],
            [],
            id="told by a constant",
        ),
        pytest.param(
            union(["a", "kind"], ["a", "kind"], kind=["x", "y"]),
            [["kind", "a"], ["kind", "a"]],
            [TOLD, TOLD],
            id="constants come first",
        ),
    ],
)
def test_members_are_arranged(
    given: dict[str, Any], expected: list[list[str]], told: list[tuple[str, str, str]]
) -> None:
    schema, losses = fitted_member(given, ARRANGED)

    assert (expected, told) == (orders(schema), losses)


def test_objects_that_nothing_tells_apart_are_refused() -> None:
    alike = union(["a"], ["a"])

    with pytest.raises(RequestError) as refused:
        fitted_member(alike, ARRANGED)
    assert refused.value.reason is ErrorReason.NOT_CONVERTIBLE
    assert orders(fitted_member(alike, CLOSED)[0]) == [["a"], ["a"]]
