"""Where several branches of a union fit, each is a reading."""

from itertools import product
from typing import Any

import pytest
from sidecheck_server.core.convert.restoring import MOST_READINGS, readings
from sidecheck_server.core.limits import Limits
from support.decoded_arguments import TEXT, branch, read, union

STRINGS = branch(types=["string"])


@pytest.mark.parametrize(
    ("guide", "value", "values"),
    [
        pytest.param(
            union(branch({"nulls": ["a"]}, types=["object"]), branch(types=["null"])),
            {"a": None},
            [{}],
            id="a nullable object",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, types=["object"]), branch(types=["null"])),
            None,
            [None],
            id="null of a nullable object",
        ),
        pytest.param(
            union(branch(TEXT, types=["string"]), STRINGS), "1", [1, "1"], id="two branches fit"
        ),
        pytest.param(
            union(STRINGS, branch(TEXT, types=["string"])), "1", ["1", 1], id="in their order"
        ),
        pytest.param(
            union(STRINGS, STRINGS, branch()), "1", ["1"], id="branches without a guide are one"
        ),
        pytest.param(
            union(
                branch({"nulls": ["b"]}, constants={"k": ["b", 1]}),
                branch({"nulls": ["c"]}, constants={"k": [1.0, True]}),
            ),
            {"k": True, "b": None, "c": None},
            [{"k": True, "b": None}],
            id="true is not the constant 1",
        ),
        pytest.param(
            union(
                branch({"nulls": ["a"]}, constants={"k": ["a"]}),
                branch({"nulls": ["b"]}, constants={"k": ["b"]}),
            ),
            {"k": "b", "a": None, "b": None},
            [{"k": "b", "a": None}],
            id="a constant tells",
        ),
        pytest.param(
            union(
                branch({"nulls": ["a"]}, required=["a", "c"]),
                branch({"nulls": ["b"]}, only=["a", "b"]),
            ),
            {"a": None, "b": None},
            [{"a": None}],
            id="required members tell",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, only=["a", "c"]), branch({"nulls": ["b"]})),
            {"a": None, "b": None},
            [{"a": None}],
            id="as many members as can be but others",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, only=["a"]), branch({"nulls": ["b"]}, required=["b"])),
            {"a": None, "b": None},
            [{"a": None}],
            id="members that cannot be tell",
        ),
        pytest.param(
            union(branch({"items": TEXT}, types=["array"], required=["a"])),
            ["1"],
            [[1]],
            id="of an array no members are asked",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, types=["object"], required=["b"]), STRINGS),
            {"a": None},
            [{}],
            id="if none fits the type tells",
        ),
        pytest.param(
            union(branch(TEXT, types=["number"]), branch(TEXT, types=["array"])),
            "1",
            ["1"],
            id="no type fits",
        ),
        pytest.param(
            union(branch({"renamed": {"a": "b"}}), branch({"renamed": {"a": "c"}}), branch()),
            {"a": 1},
            [{"b": 1}, {"c": 1}, {"a": 1}],
            id="branches that rename",
        ),
        pytest.param(
            {"items": union(branch(TEXT), branch())},
            ["1", 2, 3, 4, 5, 6],
            [[1, 2, 3, 4, 5, 6], ["1", 2, 3, 4, 5, 6]],
            id="choices that come to the same",
        ),
        pytest.param(
            {"items": union(branch(TEXT), branch())},
            ["1", "2"],
            [[1, 2], ["1", "2"], ["1", 2], [1, "2"]],
            id="all alike before each by itself",
        ),
        pytest.param(
            union(
                branch({"ref": "d"}, types=["array"]),
                branch({"items": union(branch(TEXT), branch())}, types=["array"]),
            )
            | {"defs": {"d": {"items": {"nulls": ["a"]}}}},
            [{"a": None}, "1"],
            [[{}, "1"], [{"a": None}, "1"], [{"a": None}, 1]],
            id="a union in a union",
        ),
    ],
)
def test_each_branch_that_fits_is_a_reading(
    guide: dict[str, Any], value: Any, values: list[Any]
) -> None:
    """They come in the order in which they are to be judged, each once."""
    assert values == [reading for reading, _ in read(guide, value)]


def test_there_are_sixteen_readings_at_most() -> None:
    """Of 2^30 the likely ones: all are alike, or one is another than the others."""
    guide = {"items": union(branch(TEXT), branch())}
    decoded: list[Any] = [1] * 30
    but_one = [[*decoded[:n], "1", *decoded[n + 1 :]] for n in range(MOST_READINGS - 2)]

    assert [decoded, ["1"] * 30, *but_one] == [value for value, _ in read(guide, ["1"] * 30)]


def test_a_few_choices_are_all_made() -> None:
    """Each combination of four is a reading, and those with fewer others come first."""
    guide = {"items": union(branch(TEXT), branch())}
    found = [tuple(value) for value, _ in read(guide, ["1"] * 4)]

    assert set(product((1, "1"), repeat=4)) == set(found)
    assert sorted(found[2:], key=lambda each: each.count("1")) == found[2:]


def test_readings_are_made_when_they_are_asked_for() -> None:
    """Who takes the first one pays for no other."""
    guide = {"items": union(branch(TEXT), branch())}
    budget = [Limits().steps]
    made = readings(["1"] * 100, guide, budget)
    next(made)
    first = Limits().steps - budget[0]
    rest = len(list(made))

    assert MOST_READINGS - 1 == rest
    assert Limits().steps - budget[0] > 5 * first
