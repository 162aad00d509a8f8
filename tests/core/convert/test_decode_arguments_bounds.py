"""Bounds of decoding, for any decoder and any arguments."""

from typing import Any

import pytest
from sidecheck_server.core.convert.decode_arguments import MAX_INTERPRETATIONS, decode_arguments
from sidecheck_server.core.limits import Exhausted, Limits
from support.counted_calls import count_calls
from support.decoded_arguments import (
    NULL,
    TEXT,
    branch,
    properties,
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
            "properties": {"a": {"ref": "e", "also": [{"ref": "f"}, {"ref": "d"}]}},
        },
        "e": properties(a={"ref": "d", "any_of": [branch({"ref": "f"}), branch({"ref": "e"})]}),
        "f": {"values": {"any_of": [branch({"ref": "d"}), branch({"ref": "e"})]}},
    },
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("decoder", "arguments"),
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
            {"items": TEXT}, ["[" * 100] * 10_000, id="ten thousand texts that are not JSON"
        ),
        pytest.param(
            {"items": TEXT},
            [f"[{','.join(['1e300'] * 1300)}]"] * 120,
            id="texts of numbers that take long to read",
        ),
        pytest.param(
            properties(**{"k" * 500_000: {"items": {"nulls": ["a"]}}}),
            {"k" * 500_000: [{"a": None}] * 10_000},
            id="ten thousand long pointers",
        ),
    ],
)
def test_decoding_ends_within_the_budget(decoder: dict[str, Any], arguments: Any) -> None:
    """The budget bounds all interpretations together, and reports when it is spent.

    Two steps pay for at most one function call.
    """
    budget = [Limits().steps]

    def decode() -> None:
        try:
            count = len(list(decode_arguments(arguments, decoder, budget)))
        except Exhausted:
            assert budget[0] < 0
        else:
            assert 1 <= count <= MAX_INTERPRETATIONS

    calls = count_calls(decode)
    assert calls < 3_000 + (Limits().steps - budget[0]) / 2


def test_each_decoder_is_applied_once_for_each_value() -> None:
    """The number of paths to it does not matter."""
    row = {f"d{n}": {"also": [{"ref": f"d{n + 1}"}, {"ref": f"d{n + 1}"}]} for n in range(60)}
    decoder = {"ref": "d0", "defs": {**row, "d60": {"nulls": ["a"]}}}

    assert [({}, {"/a": NULL})] == read(decoder, {"a": None})


def test_arguments_beyond_the_recursion_limit_exhaust_the_budget() -> None:
    """The caller limits the depth; here it did not."""
    decoder = {"ref": "d", "defs": {"d": {"values": {"ref": "d"}}}}

    with pytest.raises(Exhausted):
        list(decode_arguments(nested(5000), decoder, [Limits().steps]))
