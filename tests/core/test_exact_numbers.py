"""Numbers have the exact value of their text, even if no double equals it."""

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.exact_numbers import (
    MOST_DIGITS,
    ExactNumber,
    NumberTooLongError,
    read_number,
)
from sidecheck_server.core.json_values import canonical_json, digest_of, json_equal, number_text
from sidecheck_server.core.payload import decode, encode_json
from sidecheck_server.core.repair.types import Coercion, Repairs
from support.compiling import D04, compile_value

TWO_60 = "1152921504606846976.0"
HUGE = "100000000000000000000000"
LONG_TENTH = "0.1000000000000000055511151231257827021181583404541015625"


@pytest.mark.parametrize(
    ("schema", "payload", "valid"),
    [
        pytest.param('{"multipleOf":1024}', TWO_60, True, id="a multiple with a point"),
        pytest.param('{"multipleOf":10}', TWO_60, False, id="no multiple with a point"),
        pytest.param('{"multipleOf":1e23}', f"{HUGE}0", True, id="a divisor with an exponent"),
        pytest.param('{"const":9007199254740993}', "9007199254740993.0", True, id="a constant"),
        pytest.param('{"const":9007199254740993}', "9007199254740992.0", False, id="its neighbour"),
        pytest.param('{"const":9007199254740993.0}', "9007199254740993", True, id="the other way"),
        pytest.param(f'{{"enum":[0,"a",{HUGE}]}}', "1e23", True, id="a choice"),
        pytest.param('{"enum":[1,2,3,4,5,6,7,8,1e23]}', HUGE, True, id="a choice of many"),
        pytest.param('{"const":{"a":[1e23]}}', f'{{"a":[{HUGE}]}}', True, id="inside a constant"),
        pytest.param(f'{{"minimum":{HUGE}}}', "1e23", True, id="a minimum"),
        pytest.param('{"minimum":1e23}', "99999999999999991611392", False, id="below a minimum"),
        pytest.param('{"exclusiveMinimum":1e23}', HUGE, False, id="an exclusive minimum"),
        pytest.param(f'{{"exclusiveMaximum":{LONG_TENTH}}}', "0.1", True, id="a tenth"),
        pytest.param('{"maximum":0.1}', LONG_TENTH, False, id="more than a tenth"),
        pytest.param('{"maximum":0.1}', "0.10000000000000000000", True, id="a tenth with zeros"),
        pytest.param('{"uniqueItems":true}', f"[1e23,{HUGE}]", False, id="equal items"),
        pytest.param('{"uniqueItems":true}', f"[0.1,{LONG_TENTH}]", True, id="items of one double"),
        pytest.param('{"uniqueItems":true}', "[1e400,1e401]", True, id="beyond all doubles"),
        pytest.param('{"type":"integer"}', "12345678901234567890.10", False, id="a fraction"),
        pytest.param('{"type":"integer"}', "4503599627370497.25", False, id="a lost fraction"),
        pytest.param('{"type":"integer"}', "1e400", True, id="an integer beyond all doubles"),
        pytest.param('{"type":"integer"}', "1e-400", False, id="no zero"),
        pytest.param('{"exclusiveMinimum":0}', "1e-400", True, id="more than zero"),
        pytest.param('{"maximum":1e308}', "1e309", False, id="more than a double can be"),
        pytest.param('{"minLength":1e400}', '"a"', False, id="a length beyond all doubles"),
        pytest.param(
            f'{{"$schema":"{D04}","type":"integer"}}', "9007199254740993.0", False, id="draft 4"
        ),
    ],
)
def test_a_number_is_its_text(schema: str, payload: str, valid: bool) -> None:
    """Both engines agree, and it may be a part of a larger payload."""
    assert valid is evaluate_by_both(schema, payload)


def evaluate_by_both(schema: str, payload: str) -> bool:
    """Return the verdict of the complete engine; fail if that of the fast one differs."""
    compiled = compile_value(schema.encode())
    value = decode(payload.encode(), max_depth=9)
    valid = compiled.complete.is_valid(value)
    if compiled.fast is not None:
        assert valid is compiled.fast.is_valid(value)
    assert valid is evaluate(compiled, payload.encode(), EvaluationOptions()).valid
    return valid


def numbers(most_digits: int, most_power: int) -> st.SearchStrategy[str]:
    """Generate texts of numbers: equal ones in many spellings, and near ones."""
    digits = st.integers(0, 10**most_digits).map(str)
    fractions = st.one_of(st.just(""), st.integers(0, 10**most_digits).map(lambda n: f".{n}"))
    powers = st.one_of(
        st.just(""),
        st.builds("{}{}".format, st.sampled_from(["e", "E", "e+"]), st.integers(0, most_power)),
        st.integers(1, most_power).map(lambda n: f"e-{n}"),
    )
    return st.builds("{}{}{}{}".format, st.sampled_from(["", "-"]), digits, fractions, powers)


NUMBERS = st.one_of(
    numbers(3, 3),
    numbers(20, 30),
    st.sampled_from([TWO_60, HUGE, LONG_TENTH, "0.1", "1e23", "9007199254740993.0", "1e400", "0"]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)


@seed(1)
@settings(max_examples=400)
@given(NUMBERS, NUMBERS)
def test_every_comparison_is_that_of_decimals(first: str, second: str) -> None:
    """Both orders are tested; equal values have equal hashes, texts and digests."""
    left: Any = decode(first.encode(), max_depth=1)
    right: Any = decode(second.encode(), max_depth=1)
    exact_left, exact_right = Decimal(first), Decimal(second)

    assert (exact_left == exact_right) is json_equal(left, right) is json_equal(right, left)
    for name in ("__lt__", "__le__", "__gt__", "__ge__"):
        wanted = getattr(exact_left, name)(exact_right)
        assert wanted is OPERATORS[name](left, right)
    if exact_left == exact_right:
        assert hash(left) == hash(right)
    for text in (number_text, canonical_json, digest_of):
        assert (exact_left == exact_right) is (text(left) == text(right))


OPERATORS = {
    "__lt__": lambda left, right: left < right,
    "__le__": lambda left, right: left <= right,
    "__gt__": lambda left, right: left > right,
    "__ge__": lambda left, right: left >= right,
}


@pytest.mark.slow
@seed(2)
@settings(max_examples=300)
@given(NUMBERS, NUMBERS)
def test_every_keyword_agrees_with_decimals(bound: str, number: str) -> None:
    """Another implementation agrees where both numbers are integers without exponent."""
    exact_bound, exact = Decimal(bound), Decimal(number)
    wanted = {
        "minimum": exact >= exact_bound,
        "maximum": exact <= exact_bound,
        "exclusiveMinimum": exact > exact_bound,
        "exclusiveMaximum": exact < exact_bound,
        "const": exact == exact_bound,
    }
    if exact_bound > 0:
        wanted["multipleOf"] = (Fraction(exact) / Fraction(exact_bound)).denominator == 1
    for keyword, valid in wanted.items():
        schema = f'{{"{keyword}":{bound}}}'
        assert valid is evaluate_by_both(schema, number), (schema, number)
        if bound.lstrip("-").isdigit() and number.lstrip("-").isdigit():
            oracle = jsonschema_rs.validator_for({keyword: int(bound)})
            assert oracle.is_valid(int(number)) is valid


@seed(3)
@settings(max_examples=300)
@given(NUMBERS)
def test_a_number_keeps_its_value_when_it_is_written(text: str) -> None:
    """Canonical JSON and pickling preserve it; its digits stay if no double equals it."""
    value: Any = decode(f'{{"a":[{text}]}}'.encode(), max_depth=2)
    [number] = value["a"]

    sent = pickle.loads(pickle.dumps(value))
    for copy in (encode_json(value), canonical_json(value), encode_json(sent)):
        assert json_equal(value, decode(copy, max_depth=2))
    if isinstance(number, ExactNumber):
        assert f'{{"a":[{text}]}}'.encode() == encode_json(value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0.1", float),
        ("1.50", float),
        ("0.8444218515250481", float),
        ("9007199254740991.0", float),
        ("5e-324", float),
        ("-0.0", float),
        ("0e999999999999", float),
        ("9007199254740992.0", ExactNumber),
        ("12345678901234567890.10", ExactNumber),
        ("1e-400", ExactNumber),
        ("1e23", ExactNumber),
    ],
)
def test_doubles_are_unchanged(text: str, kind: type) -> None:
    """Only numbers without an equal double have another type."""
    assert kind is type(read_number(text))


def test_small_texts_of_large_numbers_take_little_memory() -> None:
    """The digits of an exponent are never written out."""
    number: Any = decode(b"1e4299", max_depth=1)

    assert number_text(number) == "1e4299"
    assert canonical_json(number) == b"1e4299"
    assert canonical_json(10**4299) == b"1e4299"
    for text in (f"1e{MOST_DIGITS}", f"1e-{MOST_DIGITS}", "1e1000000", f"1e{'9' * 5000}"):
        with pytest.raises(NumberTooLongError):
            read_number(text)


def test_a_repaired_payload_keeps_its_numbers() -> None:
    """A text of such a number becomes that number."""
    schema = (
        '{"properties":{"a":{"type":"number"},"b":{"type":"number"},"c":{"type":"string"},'
        '"d":{"type":"integer","default":7}},"required":["d"]}'
    )
    payload = (
        b'{"a":12345678901234567890.10,"b":"12345678901234567890.12","c":12345678901234567890.10}'
    )
    options = EvaluationOptions(
        repairs=Repairs(coercion=Coercion.SAFE_SCALARS, apply_defaults=True)
    )
    repair = evaluate(compile_value(schema.encode()), payload, options).repair

    assert repair is not None
    assert (
        b'{"a":12345678901234567890.10,"b":12345678901234567890.12,'
        b'"c":"12345678901234567890.10","d":7}'
    ) == repair.payload
