"""Cost of decoding texts that are made to be slow or to have long reports."""

from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.payload import MalformedError, decode


def test_pointers_of_repeated_keys_stay_in_proportion() -> None:
    """A long key around many objects is not reported again for each of them."""
    text = b'{"' + b"k" * 500_000 + b'": [' + b",".join([b'{"a":1,"a":1}'] * 1000) + b"]}"

    with pytest.raises(MalformedError) as malformed:
        decode(text, max_depth=128)

    assert malformed.value.truncated
    assert (
        sum(len(violation.instance_location) for violation in malformed.value.violations)
        < 2_000_000
    )


@pytest.mark.parametrize(
    "number",
    [
        "1e300",
        "-1.5E+308",
        "4.9406564584124654e-320",
        "1e-0005",
        "12345678901234567890e289",
        "7e-9",
    ],
)
def test_extreme_numbers_of_long_texts_are_read_exactly(number: str) -> None:
    """Long texts are parsed in another way than short ones."""
    text = f"[{f'{number},' * 3000}{2**64}, -1, 0.1]".encode()

    decoded: Any = decode(text, max_depth=128)
    assert [2**64, -1, 0.1] == decoded[3000:]
    assert {Decimal(number)} == {Decimal(repr(item)) for item in decoded[:3000]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'"' + b"\\\\" * 500_000 + b'"', id="backslashes"),
        pytest.param(b'"' * 1_000_000, id="quotes"),
        pytest.param(b"[" * 1_000_000, id="brackets"),
        pytest.param(b"[" + b'"\\ud800",' * 100_000, id="lone surrogates"),
        pytest.param(b"[" + b"1," * 500_000 + b"1e999", id="numbers"),
        pytest.param(b"[" + (b"1" * 4300 + b",") * 240 + b"0]", id="long integers"),
        pytest.param(b"1" * 1_000_000 + b".5", id="one long number"),
        pytest.param(b"{" + b'"a":1,' * 150_000 + b'"a":1}', id="one key again and again"),
        pytest.param(
            b"{" + b",".join(b'"%d":1,"%d":1' % (n, n) for n in range(50_000)) + b"}",
            id="many repeated keys",
        ),
        pytest.param(
            b"[" * 100 + b'{"a":1,"a":1}' + b',{"a":1,"a":1}' * 50_000 + b"]" * 100,
            id="many objects with repeated keys, deep inside",
        ),
        pytest.param(b"[" + b"1e300," * 160_000 + b"1]", id="large doubles"),
        pytest.param(b"[" + b"1e-320," * 140_000 + b"1e400]", id="small doubles"),
        pytest.param(b"[" + b'"",' * 330_000 + b"1e400]", id="texts before a number"),
        pytest.param(b'{"a":1,"a":2,"b":[' + b"[]," * 300_000 + b"[]]}", id="a key and arrays"),
        pytest.param(b'["\\u003a",' + b"[]," * 300_000 + b'{"a":1}]', id="an escaped colon"),
        pytest.param(b"[" + b"[" * 126 + b"]" * 126 + b",]", id="arrays at the bound"),
    ],
)
def test_time_is_linear_in_the_length(text: bytes) -> None:
    """Quadratic work on a megabyte would outlast the test's timeout."""
    with suppress(MalformedError, RequestError):
        decode(text, max_depth=128)
