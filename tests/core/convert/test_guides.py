"""Guides lead to every place where something is to be undone, and nowhere else."""

from typing import Any

import pytest
from sidecheck_server.core.convert.guides import guide_of
from sidecheck_server.core.convert.part import Part, Undo
from sidecheck_server.core.convert.plan import Plan, plan_from_json, plan_to_json
from sidecheck_server.core.convert.restoring import readings
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from support.transformed_nodes import (
    BY_NAME,
    NULL,
    STRING,
    TEXT,
    an_object,
    entries,
    never,
    nulls,
    part,
    text,
)


@pytest.mark.parametrize(
    ("root", "guide"),
    [
        pytest.param(an_object(a=STRING), None, id="nothing to undo"),
        pytest.param(an_object(nulls("a"), a=STRING), {"nulls": ["a"]}, id="nulls"),
        pytest.param(
            an_object(Undo(renamed={"a_b": "a b"}), a_b=STRING),
            {"renamed": {"a_b": "a b"}},
            id="renamed",
        ),
        pytest.param(
            an_object(a=STRING, b=an_object(c=text())),
            {"members": {"b": {"members": {"c": TEXT}}}},
            id="members on the way",
        ),
        pytest.param(
            part(properties={"a": STRING}, additionalProperties=text()),
            {"members": {"a": {}}, "values": TEXT},
            id="declared members are not among the others",
        ),
        pytest.param(part(items=text()), {"items": TEXT}, id="items"),
        pytest.param(
            part(prefixItems=[STRING, text(), STRING]), {"prefix": [None, TEXT]}, id="first items"
        ),
        pytest.param(
            part(prefixItems=[STRING, STRING], items=text()),
            {"prefix": [None, None], "items": TEXT},
            id="items after the first ones",
        ),
        pytest.param(entries(STRING), {"entries": BY_NAME}, id="entries"),
        pytest.param(entries(text()), {"entries": {**BY_NAME, "each": TEXT}}, id="entries of text"),
        pytest.param(
            part(
                Undo(wrapped="input"),
                type="object",
                properties={"input": an_object(nulls("a"))},
                required=["input"],
            ),
            {"wrapped": "input", "inner": {"nulls": ["a"]}},
            id="wrapped",
        ),
        pytest.param(
            part(Undo(wrapped="input"), properties={"input": STRING}),
            {"wrapped": "input"},
            id="wrapped and nothing else",
        ),
        pytest.param(
            an_object(nulls("a"), a=part(anyOf=[entries(STRING), NULL])),
            {
                "nulls": ["a"],
                "members": {
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
        pytest.param(part(anyOf=[STRING, NULL]), None, id="a union that leads nowhere"),
        pytest.param(
            part(anyOf=[STRING, text()], oneOf=[text(), never()]),
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
            part(allOf=[STRING, an_object(nulls("a"))]), {"also": [{"nulls": ["a"]}]}, id="allOf"
        ),
        pytest.param(
            part(**{"not": text(), "if": text(), "contains": text(), "propertyNames": text()}),
            None,
            id="where nothing is encoded",
        ),
        pytest.param(
            an_object(a=part(ref=text()), b=part(ref=STRING)),
            {"members": {"a": {"ref": "d0"}}, "defs": {"d0": TEXT}},
            id="references to an undo only",
        ),
    ],
)
def test_a_guide_mirrors_the_ways_to_what_is_undone(
    root: Part, guide: dict[str, Any] | None
) -> None:
    assert guide == guide_of(root)


def test_what_is_shared_stands_once() -> None:
    """However many ways lead to it."""
    shared = text()
    root = an_object(a=shared, b=part(items=shared), c=part(ref=shared))
    to = {"ref": "d0"}

    assert {
        "members": {"a": to, "b": {"items": to}, "c": to},
        "defs": {"d0": TEXT},
    } == guide_of(root)


def test_a_recursive_schema_has_a_recursive_guide() -> None:
    root = an_object(nulls("a"), a=STRING)
    root.keywords["properties"]["again"] = part(anyOf=[part(ref=root), NULL])
    again = {
        "any_of": [
            {"when": {"types": ["object"]}, "as": {"ref": "d0"}},
            {"when": {"types": ["null"]}},
        ]
    }

    assert {
        "ref": "d0",
        "defs": {"d0": {"nulls": ["a"], "members": {"again": again}}},
    } == guide_of(root)


def nested(depth: int) -> Part:
    made = text()
    for _ in range(depth):
        made = an_object(a=part(anyOf=[made, NULL]))
    return made


def test_a_plan_nests_less_than_its_schema() -> None:
    """What is too deep stands beside; the way back leads through it all the same."""
    guide = guide_of(nested(60))
    plan = Plan(ModelApi.OPENAI_CHAT, "n", "", "t", "sha256:" + "0" * 64, strict=True, guide=guide)
    value: Any = "[1]"
    restored: Any = [1]
    for _ in range(60):
        value, restored = {"a": value}, {"a": restored}
    (reading,) = readings(value, plan_from_json(plan_to_json(plan), Limits()).guide, [100_000])

    assert restored == reading.value


def test_a_very_deep_schema_is_walked_without_recursion() -> None:
    assert guide_of(nested(1200)) is not None


@pytest.mark.parametrize(
    "root",
    [
        pytest.param(an_object(**{f"member_{n:05}": text() for n in range(5000)}), id="text"),
        pytest.param(
            part(properties={f"{n:x}": STRING for n in range(10_000)}, additionalProperties=text()),
            id="guides",
        ),
    ],
)
def test_a_guide_that_no_plan_has_room_for_is_refused(root: Part) -> None:
    """A plan must be readable when it comes back."""
    with pytest.raises(RequestError) as refused:
        guide_of(root)

    assert ErrorReason.NOT_CONVERTIBLE is refused.value.reason
    assert {"bound": "plan", "limit": "131072"} == refused.value.metadata
