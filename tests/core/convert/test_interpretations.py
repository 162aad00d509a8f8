"""Interpretations of values that match several branches of a union."""

from itertools import product
from typing import Any

import pytest
from sidecheck_server.core.convert.decode_arguments import MAX_INTERPRETATIONS, decode_arguments
from sidecheck_server.core.limits import Limits
from support.decoded_arguments import TEXT, branch, read, union

STRINGS = branch(types=["string"])


@pytest.mark.parametrize(
    ("decoder", "value", "values"),
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
            union(STRINGS, STRINGS, branch()), "1", ["1"], id="branches without a decoder are one"
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
            id="required properties tell",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, only=["a", "c"]), branch({"nulls": ["b"]})),
            {"a": None, "b": None},
            [{"a": None}],
            id="as many properties as can be but others",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, only=["a"]), branch({"nulls": ["b"]}, required=["b"])),
            {"a": None, "b": None},
            [{"a": None}],
            id="properties that cannot be tell",
        ),
        pytest.param(
            union(branch({"items": TEXT}, types=["array"], required=["a"])),
            ["1"],
            [[1]],
            id="of an array no properties are asked",
        ),
        pytest.param(
            union(branch({"nulls": ["a"]}, types=["object"], required=["b"]), STRINGS),
            {"a": None},
            [{}],
            id="by type if none fits",
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
def test_each_matching_branch_is_an_interpretation(
    decoder: dict[str, Any], value: Any, values: list[Any]
) -> None:
    """They are in the order of validation, without repetition."""
    assert values == [reading for reading, _ in read(decoder, value)]


def test_there_are_at_most_sixteen_interpretations() -> None:
    """Of 2^30, those are kept in which all unions, or all but one, choose alike."""
    decoder = {"items": union(branch(TEXT), branch())}
    decoded: list[Any] = [1] * 30
    but_one = [[*decoded[:n], "1", *decoded[n + 1 :]] for n in range(MAX_INTERPRETATIONS - 2)]

    assert [decoded, ["1"] * 30, *but_one] == [value for value, _ in read(decoder, ["1"] * 30)]


def test_a_few_choices_are_enumerated_completely() -> None:
    """Each combination of four is an interpretation; those with fewer differences come first."""
    decoder = {"items": union(branch(TEXT), branch())}
    result = [tuple(value) for value, _ in read(decoder, ["1"] * 4)]

    assert set(product((1, "1"), repeat=4)) == set(result)
    assert sorted(result[2:], key=lambda item: item.count("1")) == result[2:]


def test_interpretations_are_computed_lazily() -> None:
    """The first one costs no more than itself."""
    decoder = {"items": union(branch(TEXT), branch())}
    budget = [Limits().steps]
    interpretations = decode_arguments(["1"] * 100, decoder, budget)
    next(interpretations)
    first_steps = Limits().steps - budget[0]
    remaining = len(list(interpretations))

    assert MAX_INTERPRETATIONS - 1 == remaining
    assert Limits().steps - budget[0] > 5 * first_steps
