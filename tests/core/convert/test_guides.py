"""Guides lead to every place where something is to be undone, and nowhere else."""

from typing import Any

import pytest
from sidecheck_server.core.convert.guides import guide_of
from sidecheck_server.core.convert.part import Entries, Part, Undo
from sidecheck_server.core.convert.plan import Plan, plan_from_json, plan_to_json
from sidecheck_server.core.convert.restoring import readings
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.refusals import Reason, Refusal


def part(undo: Undo | None = None, /, **keywords: Any) -> Part:
    """Return a part; ``ref`` stands for ``$ref``."""
    if "ref" in keywords:
        keywords["$ref"] = keywords.pop("ref")
    return Part((), keywords, undo=undo or Undo())


def never() -> Part:
    return Part((), never=True)


def an_object(undo: Undo | None = None, /, **members: Part) -> Part:
    return part(undo, type="object", properties=members)


def closed(**members: Part) -> Part:
    made = an_object(**members)
    made.keywords |= {"required": list(members), "additionalProperties": never()}
    return made


def nulls(*names: str) -> Undo:
    return Undo(nulls=list(names))


def text() -> Part:
    return part(Undo(json_text=True), type="string")


def entries(value: Part) -> Part:
    return part(
        Undo(entries=Entries()),
        type="array",
        items=closed(name=part(type="string"), value=value),
    )


STRING, NULL = part(type="string"), part(type="null")
TEXT = {"json_text": True}
BY_NAME = {"name": "name", "value": "value"}


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
    with pytest.raises(Refusal) as refused:
        guide_of(root)

    assert Reason.NOT_CONVERTIBLE is refused.value.reason
    assert {"bound": "plan", "limit": "131072"} == refused.value.metadata
