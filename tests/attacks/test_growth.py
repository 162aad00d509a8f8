"""Work on bytes from outside grows with their number, not with its square.

Where no function is called for each byte, regular expressions are held by their form: what is
repeated without an end is possessive, or nothing can follow that it could take.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from sidecheck_server.proxy import http_headers, messages, sse, upstream
from sidecheck_server.proxy.http_headers import combine, passed_headers
from sidecheck_server.proxy.http_paths import has_steps
from sidecheck_server.proxy.messages import read_items, read_message, split_members
from sidecheck_server.proxy.sse import EventReader
from support.counted_calls import count_calls

SIZES = (500, 1_000, 2_000, 4_000)


def feed(chunks: Sequence[bytes]) -> None:
    """Read *chunks* as events, and look at all that is in them."""
    reader = EventReader(1 << 30)
    for chunk in chunks:
        for event in reader.feed(chunk):
            _ = event.type, event.has_id, event.may_be_json
            event.safe_text(event.data)
    reader.rest()


HOSTILE: dict[str, Callable[[int], object]] = {
    "a stream in single bytes": lambda n: feed([b"x"] * n),
    "carriage returns in single bytes": lambda n: feed([b"\r"] * n),
    "line ends of two characters, divided": lambda n: feed([b":\r", b"\n"] * n),
    "fields without a blank line": lambda n: feed([b"data: 1\n" * n, b"\n"]),
    "comments": lambda n: feed([b":\n"] * n),
    "line ends of other readers": lambda n: feed([b"data: " + b"\xe2\x80\xa8" * n + b"\n\n"]),
    "open brackets": lambda n: read_message(b"[" * n),
    "open objects": lambda n: read_message(b'{"a":' * n),
    "quotes": lambda n: list(split_members(b'{"a":' + b'"' * n)),
    "backslashes in an open string": lambda n: list(split_members(b'{"' + b"\\" * n)),
    "members that are not JSON": lambda n: read_message(b"{" + b'"a":NaN,' * n + b'"b":1}'),
    "items that are not JSON": lambda n: read_items(b"[" + b"NaN," * n + b"1]"),
    "a header many times": lambda n: combine([(b"a", b"b")] * n),
    "names in a connection header": lambda n: passed_headers(
        [(b"connection", b",".join([b"a"] * n))] * 2, ()
    ),
    "escapes in a path": lambda n: has_steps(b"/" + b"%2525" * n),
    "segments in a path": lambda n: has_steps(b"/x" * n),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_bytes_take_twice_the_steps(name: str) -> None:
    """In calls of functions, those of C included."""
    counts = [count_calls(lambda size=size: HOSTILE[name](size)) for size in SIZES]  # type: ignore[misc]

    for half, whole in pairwise(counts):
        assert whole <= 2.2 * half + 100, counts


PATTERNS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in (http_headers, messages, sse, upstream)
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
}


def backtracking(tree: Any) -> bool:
    """Return whether a repetition in *tree* without an end gives back what it took."""
    for operator, argument in tree:
        if str(operator) in {"MAX_REPEAT", "MIN_REPEAT"} and str(argument[1]) == "MAXREPEAT":
            return True
        parts = argument if isinstance(argument, tuple | list) else [argument]
        for part in parts:
            inner = part if isinstance(part, list) else [part]
            if any(hasattr(each, "data") and backtracking(each) for each in inner):
                return True
    return False


@pytest.mark.parametrize("name", PATTERNS)
def test_no_pattern_of_the_proxy_goes_back(name: str) -> None:
    """All that it repeats is possessive."""
    parser: Any = re._parser  # type: ignore[attr-defined]
    pattern = PATTERNS[name]

    assert not backtracking(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


@pytest.mark.parametrize("text", ["a*", "(?:a|b+)c", "x(?>a+b)?", "(?=a*)"])
def test_a_pattern_that_goes_back_is_noticed(text: str) -> None:
    """Wherever it stands."""
    parser: Any = re._parser  # type: ignore[attr-defined]

    assert backtracking(parser.parse(text))
