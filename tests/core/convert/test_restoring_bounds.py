"""However guides and arguments are made, turning them back ends soon."""

import time
from typing import Any

import pytest
from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.convert.restoring import MOST_READINGS, readings
from sidecheck_server.core.limits import Limits
from support.decoded_arguments import (
    NULL,
    TEXT,
    branch,
    members,
    read,
    union,
)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


DOUBLING = {
    "ref": "d",
    "defs": {
        "d": {
            "members": {"a": {"ref": "e", "also": [{"ref": "f"}, {"ref": "d"}]}},
        },
        "e": members(a={"ref": "d", "any_of": [branch({"ref": "f"}), branch({"ref": "e"})]}),
        "f": {"values": {"any_of": [branch({"ref": "d"}), branch({"ref": "e"})]}},
    },
}


@pytest.mark.parametrize(
    ("guide", "arguments"),
    [
        pytest.param(DOUBLING, nested(120), id="references that double at each level"),
        pytest.param(
            {
                "ref": "d",
                "defs": {"d": {"values": union(*[branch({"ref": "d"}) for _ in range(1000)])}},
            },
            nested(120),
            id="a thousand branches at each level",
        ),
        pytest.param(
            {"items": union(*[branch(TEXT, only=[str(n)]) for n in range(1000)])},
            [{}] * 100_000,
            id="a thousand branches for each item",
        ),
        pytest.param(
            {"entries": {"name": "n", "value": "v", "each": {"nulls": ["a"]}}},
            [{"n": str(n), "v": {"a": None}} for n in range(100_000)],
            id="a hundred thousand entries",
        ),
        pytest.param(
            {"items": TEXT}, ["[" * 100] * 10_000, id="ten thousand texts that are no JSON"
        ),
        pytest.param(
            {"items": TEXT},
            [f"[{','.join(['1e300'] * 1300)}]"] * 120,
            id="texts of numbers that take long to read",
        ),
        pytest.param(
            members(**{"k" * 500_000: {"items": {"nulls": ["a"]}}}),
            {"k" * 500_000: [{"a": None}] * 10_000},
            id="ten thousand long pointers",
        ),
    ],
)
def test_whatever_is_given_ends(guide: dict[str, Any], arguments: Any) -> None:
    """The budget bounds all readings together, and tells when there is too much to do.

    Ten million steps are to take a quarter of a second; here they have eight times as long.
    """
    budget = [Limits().steps]
    started = time.process_time()
    try:
        made = len(list(readings(arguments, guide, budget)))
    except Exhausted:
        assert budget[0] < 0
    else:
        assert 1 <= made <= MOST_READINGS
    assert time.process_time() - started < 2


def test_references_that_double_cost_no_more_than_there_are() -> None:
    """Each guide is followed once for each value, by whatever ways it is reached."""
    row = {f"d{n}": {"also": [{"ref": f"d{n + 1}"}, {"ref": f"d{n + 1}"}]} for n in range(60)}
    guide = {"ref": "d0", "defs": {**row, "d60": {"nulls": ["a"]}}}

    assert [({}, {"/a": NULL})] == read(guide, {"a": None})


def test_arguments_deeper_than_the_interpreter_goes_are_too_much() -> None:
    """The bound on nesting is the caller's; here it was not kept."""
    guide = {"ref": "d", "defs": {"d": {"values": {"ref": "d"}}}}

    with pytest.raises(Exhausted):
        list(readings(nested(5000), guide, [Limits().steps]))
