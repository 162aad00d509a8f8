"""JSON equality, uniqueness and multiples: exact, and cheap for hostile values."""

import math
import random
from fractions import Fraction
from typing import Any

import jsonschema_rs
import pytest
from sidecheck_server.core.json_values import all_unique, find_duplicate, is_multiple, json_equal
from sidecheck_server.core.limits import Exhausted

STEPS = 1 << 40

EQUAL = [
    pytest.param(1, 1.0, id="an integer and a double"),
    pytest.param(0, -0.0, id="zero and negative zero"),
    pytest.param(2**53, float(2**53), id="the last integer that all doubles reach"),
    pytest.param(2**64, float(2**64), id="a large integer that is a double"),
    pytest.param(10**22, 1e22, id="the largest exact power of ten"),
    pytest.param("é", "\u00e9", id="one text, written twice"),
    pytest.param({"a": 1, "b": [2]}, {"b": [2.0], "a": 1.0}, id="members in another order"),
    pytest.param([[], {}, None], [[], {}, None], id="empty containers"),
]
UNEQUAL = [
    pytest.param(1, True, id="one and true"),
    pytest.param(0, False, id="zero and false"),
    pytest.param(1, "1", id="a number and its text"),
    pytest.param(None, False, id="null and false"),
    pytest.param("", None, id="nothing and null"),
    pytest.param([], {}, id="an empty array and an empty object"),
    pytest.param([1], [True], id="one and true in an array"),
    pytest.param({"a": {"b": 0}}, {"a": {"b": False}}, id="zero and false deep inside"),
    pytest.param({"a": 1}, {"a": 1, "b": 2}, id="a part and the whole"),
    pytest.param({"a": 1}, {"b": 1}, id="other names"),
    pytest.param([1, 2], [2, 1], id="items in another order"),
    pytest.param([1], [1, 1], id="fewer items"),
    pytest.param(2**53, 2**53 + 1, id="integers that one double stands for"),
    pytest.param(2**53 + 1, float(2**53), id="an integer and the double next to it"),
    pytest.param(10**23, 1e23, id="a power of ten that is no double"),
    pytest.param("e\u0301", "\u00e9", id="a composed and a decomposed letter"),
    pytest.param("1;", 1, id="a text that looks like the spelling of a number"),
    pytest.param("True;", True, id="a text that looks like the spelling of true"),
    pytest.param(["a", "b"], ["a2", "b"], id="texts of different length"),
    pytest.param(['1"a', ""], ["", '1"a'], id="texts that look like spellings"),
    pytest.param(1e-07, 0x1E, id="a small double and an integer with an e in it"),
]


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_equal_values_are_equal(first: Any, second: Any) -> None:
    """Equality has no direction, and holds deep inside."""
    assert (True, True) == (json_equal(first, second), json_equal(second, first))
    assert json_equal({"x": [first]}, {"x": [second]})


@pytest.mark.parametrize(("first", "second"), UNEQUAL)
def test_different_values_are_unequal(first: Any, second: Any) -> None:
    """Inequality has no direction, and is seen deep inside."""
    assert (False, False) == (json_equal(first, second), json_equal(second, first))
    assert not json_equal({"x": [first]}, {"x": [second]})


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_equal_items_are_repeated(first: Any, second: Any) -> None:
    """The error has the positions of both items."""
    assert not all_unique(["between", first, 7, second], [STEPS])
    assert (1, 3) == find_duplicate(["between", first, 7, second], [STEPS])
    assert (0, 1) == find_duplicate([[first], [second], "after"], [STEPS])


@pytest.mark.parametrize(("first", "second"), UNEQUAL)
def test_different_items_are_unique(first: Any, second: Any) -> None:
    """Unequal items are not reported as repeated."""
    assert all_unique([first, second], [STEPS])
    assert all_unique([{"a": first}, {"a": second}], [STEPS])


def test_uniqueness_is_equality_of_no_two_items() -> None:
    """It agrees with pairwise comparison on random arrays."""
    choose = random.Random(1)
    scalars = [0, 1, 1.0, True, False, None, "", "1", 2.5, 10**20, 1e20, -1]
    values: list[Any] = [
        *scalars,
        *([scalar] for scalar in scalars),
        *({"a": scalar, "b": second} for scalar in scalars[:4] for second in scalars[:4]),
    ]
    for _ in range(2000):
        items = [choose.choice(values) for _ in range(choose.randint(0, 6))]
        pairs = ((a, b) for i, a in enumerate(items) for b in items[:i])

        assert all_unique(items, [STEPS]) is not any(json_equal(a, b) for a, b in pairs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "item",
    [
        pytest.param(lambda n: n * (2**61 - 1), id="integers of one hash"),
        pytest.param(lambda n: [n * (2**61 - 1)], id="arrays of one hash"),
        pytest.param(lambda n: {"a": n * (2**61 - 1)}, id="objects of one hash"),
        pytest.param(float, id="doubles"),
        pytest.param(lambda n: f"s{n}", id="texts"),
        pytest.param(lambda n: [True, None, n % 2 == 0, *([False] * 8), f"{n}"], id="constants"),
    ],
)
def test_no_choice_of_items_makes_uniqueness_slow(item: Any) -> None:
    """Quadratic work on colliding items would exceed the test's timeout."""
    assert all_unique([item(n) for n in range(300_000)], [STEPS])


@pytest.mark.parametrize(
    ("value", "divisor", "expected"),
    [
        pytest.param(10, 5, True, id="integers"),
        pytest.param(11, 5, False, id="integers that do not divide"),
        pytest.param(0, 5, True, id="zero"),
        pytest.param(0.0, 0.1, True, id="zero as a double"),
        pytest.param(-4, 2, True, id="a negative integer"),
        pytest.param(4.35, 0.01, True, id="hundredths that binary fractions miss"),
        pytest.param(19.99, 0.01, True, id="more hundredths"),
        pytest.param(0.3, 0.1, True, id="tenths"),
        pytest.param(0.35, 0.1, False, id="half a tenth"),
        pytest.param(0.0075, 0.0001, True, id="ten-thousandths"),
        pytest.param(0.00751, 0.0001, False, id="less than a ten-thousandth"),
        pytest.param(3, 0.5, True, id="an integer and a half"),
        pytest.param(3.0, 2, False, id="a double and an integer"),
        pytest.param(1e308, 0.123456789, False, id="the ends of the range"),
        pytest.param(1e308, 0.5, True, id="a large multiple of a half"),
        pytest.param(1e300, 3, False, id="a large double is the decimal that it is written as"),
        pytest.param(1e300, 7e299, False, id="large doubles"),
        pytest.param(5e-324, 5e-324, True, id="the smallest double"),
        pytest.param(1, 5e-324, True, id="one and the smallest double"),
        pytest.param(2**53 + 1, 2, False, id="an integer beyond doubles"),
        pytest.param(10**400, 0.5, True, id="an integer beyond the range of doubles"),
        pytest.param(10**4299 + 1, 0.25, True, id="the largest integer that is read"),
        pytest.param(10**4299 + 1, 1e-320, True, id="a huge integer and a tiny double"),
        pytest.param(12391239123, 1e-8, True, id="a divisor written with an exponent"),
    ],
)
def test_multiples_are_exact(value: float, divisor: float, expected: bool) -> None:
    """Numbers are multiples as they are written, in base ten."""
    assert expected is is_multiple(value, divisor, [STEPS])


def test_multiples_agree_with_exact_fractions() -> None:
    """They agree with fractions and another implementation on random numbers."""
    choose = random.Random(2)
    for _ in range(3000):
        divisor = choose.choice([0.01, 0.1, 0.25, 0.5, 1, 1.5, 3, 7, 1e-8, 123.456, 1e10])
        value: float = choose.choice(
            [
                choose.randint(-(10**6), 10**6),
                round(choose.uniform(-1000, 1000), choose.randint(0, 6)),
                round(choose.randint(-1000, 1000) * divisor, 8),
            ]
        )
        exact = Fraction(str(value)) / Fraction(str(divisor))

        assert (exact.denominator == 1) is is_multiple(value, divisor, [STEPS]), (value, divisor)
        oracle = jsonschema_rs.validator_for({"multipleOf": divisor})
        assert oracle.is_valid(value) is is_multiple(value, divisor, [STEPS]), (value, divisor)


def test_hostile_multiples_are_cheap() -> None:
    """The most digits that numbers may have cost some steps, and are never divided for fewer."""
    value, divisor = 10**4299 + 1, math.nextafter(0, 1)
    budget = [10_000]

    assert is_multiple(value, divisor, budget)
    assert 0 < budget[0] < 9_900
    with pytest.raises(Exhausted):
        is_multiple(value, divisor, [10_000 - budget[0] - 1])
