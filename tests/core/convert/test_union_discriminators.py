"""Objects of a union begin with different properties, where a provider requires it."""

from dataclasses import replace
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError

from .transforms import CLOSED, transformed_property

ARRANGED = replace(CLOSED, distinct_first_properties=True)
TOLD = ("properties", "rewritten", "equivalent")


def union(*objects: list[str], **constants: list[str]) -> dict[str, Any]:
    """Return a union of closed objects with these properties; a constant has a value in each."""
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
    """Return the properties of each object of a union, in order."""
    return [list(branch["properties"]) for branch in schema["anyOf"]]


@pytest.mark.parametrize(
    ("original", "expected", "reported"),
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
            id="reported by a constant",
        ),
        pytest.param(
            union(["a", "kind"], ["a", "kind"], kind=["x", "y"]),
            [["kind", "a"], ["kind", "a"]],
            [TOLD, TOLD],
            id="constants come first",
        ),
    ],
)
def test_properties_are_arranged(
    original: dict[str, Any], expected: list[list[str]], reported: list[tuple[str, str, str]]
) -> None:
    schema, losses = transformed_property(original, ARRANGED)

    assert (expected, reported) == (orders(schema), losses)


def test_objects_without_a_discriminator_are_rejected() -> None:
    alike = union(["a"], ["a"])

    with pytest.raises(RequestError) as excinfo:
        transformed_property(alike, ARRANGED)
    assert excinfo.value.reason is ErrorReason.NOT_CONVERTIBLE
    assert orders(transformed_property(alike, CLOSED)[0]) == [["a"], ["a"]]
