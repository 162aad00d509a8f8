"""Excerpts: the line of a place, cut around it, with a mark under the very place."""

import pytest
from sidecheck_server.cli.excerpts import excerpt_rows
from sidecheck_server.cli.findings import Source, find_violations
from sidecheck_server.core.types import Violation

FIGURES = "0123456789" * 4


@pytest.mark.parametrize(
    ("text", "pointer", "line", "mark"),
    [
        pytest.param('{"a": 12}', "/a", '{"a": 12}', "      ^~", id="a value"),
        pytest.param('{"a": 1}', "", '{"a": 1}', "^~~~~~~~", id="the whole"),
        pytest.param('{\n "a": {\n }}', "", "{", "^", id="continued in other lines"),
        pytest.param('{\r\n "a": 12\r\n}\r\n', "/a", ' "a": 12', "      ^~", id="CRLF"),
        pytest.param('[\t"é",\t7]', "/1", '[    "é",    7]', " " * 13 + "^", id="tabs"),
        pytest.param('["日本", 7]', "/1", '["日本", 7]', "         ^", id="wide characters"),
        pytest.param(
            '["\u202e\u0085", 7]', "/1", '["\\u202e\\u0085", 7]', " " * 17 + "^", id="bidi"
        ),
        pytest.param(
            f'["{FIGURES}", 7]',
            "/1",
            '...8901234567890123456789", 7]',
            " " * 28 + "^",
            id="at the end",
        ),
        pytest.param(
            f'[7, "{FIGURES}"]', "/0", '[7, "0123456789012345678901...', " ^", id="at the beginning"
        ),
        pytest.param(
            f'["x", 7, "{FIGURES}"]',
            "/1",
            '["x", 7, "01234567890123456...',
            "      ^",
            id="in the middle",
        ),
        pytest.param(
            f'["{FIGURES}", "{FIGURES}", 7]',
            "/1",
            '...6789", "0123456789012345...',
            "          ^" + "~" * 19,
            id="a place that is too long",
        ),
        pytest.param(
            '[1, "0123456789012345678901", 2]',
            "/1",
            '[1, "0123456789012345678901...',
            "    ^" + "~" * 23,
            id="no space for the rest",
        ),
    ],
)
def test_the_place_is_marked(text: str, pointer: str, line: str, mark: str) -> None:
    """A row has 35 characters, five of them for the line number and the margin."""
    source = Source("it", text.encode())
    (finding,) = find_violations(source, [Violation(pointer, "", "", "X", "x")])
    above, shown, below = (row.plain for row in excerpt_rows(finding, 35, ""))

    assert "   |" == above
    assert f" {finding.place.line} | {line}" == shown
    assert f"   | {mark}" == below
    assert [] == [row for row in (shown, below) if len(row) > 35]
