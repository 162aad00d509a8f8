"""Positions of values in a JSON text."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.cli.findings import Span, find_positions, find_spans

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def walk(value: Any, pointer: str = "") -> dict[str, Any]:
    """Return every value in *value* by its pointer."""
    values = {pointer: value}
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            escaped = str(step).replace("~", "~0").replace("/", "~1")
            values |= walk(inner, f"{pointer}/{escaped}")
    return values


@given(JSON, st.booleans(), st.randoms())
@settings(max_examples=200, deadline=None)
def test_every_value_has_its_position(value: Any, ascii_only: bool, random: Any) -> None:
    """Any subset of the pointers may be requested; keys have positions too."""
    written = json.dumps(value, indent=random.choice([None, 1]), ensure_ascii=ascii_only)
    text = written.encode("utf-8", "surrogatepass")
    values = walk(value)
    pointers = [pointer for pointer in values if random.random() < 0.5]

    def read(start: int, end: int) -> Any:
        return json.loads(text[start:end].decode("utf-8", "surrogatepass"))

    for pointer, span in find_spans(text, pointers).items():
        assert values[pointer] == read(span.start, span.end)
        if span.key_start != span.start:
            key = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
            assert key == read(span.key_start, span.key_end)


@pytest.mark.parametrize(
    ("text", "pointer", "part"),
    [
        pytest.param('{"a": 1, "a": 2}', "/a", "2", id="the last of equal keys counts"),
        pytest.param('{"a": [1]}', "/a/7/b", "[1]", id="nearest existing value"),
        pytest.param('{"a": "]}{["}', "/a", '"]}{["', id="brackets in a string"),
        pytest.param('{"a\\"/~": 1}', '/a"~1~0', "1", id="a key with escapes"),
        pytest.param('{"\\u0061": 1}', "/a", "1", id="a key written otherwise"),
        pytest.param('{"": {"": 5}}', "//", "5", id="empty keys"),
        pytest.param(" \r\n\t[ 1 , 2 ] ", "/1", "2", id="white space"),
        pytest.param("7", "", "7", id="the whole"),
    ],
)
def test_a_pointer_resolves_to_its_position(text: str, pointer: str, part: str) -> None:
    """RFC 6901, section 4."""
    span = find_spans(text.encode(), [pointer])[pointer]

    assert part == text[span.start : span.end]


def test_a_key_has_its_own_position() -> None:
    """Positions are byte offsets."""
    assert {"/é": Span(start=7, end=8, key_start=1, key_end=5)} == find_spans(
        '{"é": 1}'.encode(), ["/é"]
    )


def test_deep_values_off_the_path_are_skipped() -> None:
    """Their depth is not limited."""
    text = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b', "b": 1}'

    assert {"/b": b"1"} == {
        pointer: text[span.start : span.end] for pointer, span in find_spans(text, ["/b"]).items()
    }


def test_lines_and_columns_count_characters_from_1() -> None:
    """Offsets at the end and bytes that are not UTF-8 are counted too."""
    text = "é1\r\n日本x\n".encode() + b"\xff\xfey"

    assert {0: (1, 1), 2: (1, 2), 5: (2, 1), 11: (2, 3), 13: (3, 1), 15: (3, 3), 16: (3, 4)} == (
        find_positions(text, [16, 15, 13, 11, 5, 2, 0])
    )
