"""Error texts for the model name the remedy, in at most 2,000 characters."""

import json
from pathlib import Path
from typing import Any

import pytest
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.tool_error_text import tool_error_text
from sidecheck_server.core.types import Severity, Verdict, Violation
from support.complete_engines import engine_for, violations

CASES = json.loads((Path(__file__).parent / "tool_error_texts.json").read_text("utf-8"))
HEAD = "The arguments of the call to t are not valid:"
TAIL = "Correct the arguments and call the tool again."


def violation(pointer: str, message: str = "wrong", **fields: Any) -> Violation:
    return Violation(pointer, "", "type", "TYPE", message, **fields)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["case"]) for case in CASES])
def test_the_text_has_every_location_and_requirement(case: dict[str, Any]) -> None:
    """tool_error_texts.json has the whole texts for schemas and arguments."""
    engine = engine_for(case["schema"], assert_formats=True)
    verdict = Verdict.listing(list(violations(engine, case["arguments"])))

    assert case["text"] == tool_error_text(verdict, tool=case["tool"]).split("\n")


@pytest.mark.parametrize(
    ("payload", "line"),
    [
        pytest.param(
            b'{"a": 1', "- not JSON: it ends before the value is complete at ", id="cut off"
        ),
        pytest.param(b'{"a": NaN}', "- not JSON: NaN and Infinity are not JSON numbers", id="NaN"),
        pytest.param(
            b'{"a": {"b": 1, "b": 2}}', "- a.b: duplicate key in the object", id="key twice"
        ),
    ],
)
def test_malformed_json_has_its_own_advice(payload: bytes, line: str) -> None:
    """The advice is to send well-formed JSON, not to correct an argument."""
    with pytest.raises(MalformedError) as malformed:
        decode(payload, max_depth=128)
    text = tool_error_text(Verdict(malformed.value.violations), tool="t").split("\n")

    assert "The arguments of the call to t cannot be read as JSON:" == text[0]
    assert text[1].startswith(line)
    assert "Call the tool again with arguments that are one well-formed JSON object." == text[2]


def test_a_valid_verdict_has_no_text() -> None:
    """Warnings do not make a verdict invalid, and are not the model's business."""
    warning = violation("/a", severity=Severity.WARNING)

    assert ("", "") == (tool_error_text(Verdict()), tool_error_text(Verdict((warning,))))


def test_only_errors_are_reported() -> None:
    """Warnings are omitted if there are errors."""
    verdict = Verdict((violation("/a", severity=Severity.WARNING), violation("/b")))

    assert f"{HEAD}\n- b: wrong\n{TAIL}" == tool_error_text(verdict, tool="t")


def test_the_tool_need_not_be_named() -> None:
    """Without a name the text refers to the call."""
    text = tool_error_text(Verdict((violation("/a"),)))

    assert "The arguments of the call are not valid:" == text.split("\n", maxsplit=1)[0]


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        pytest.param("", "", id="the root"),
        pytest.param("/a", "a: ", id="a name"),
        pytest.param("/filters/0/name", "filters[0].name: ", id="an item"),
        pytest.param("/0/1", "[0][1]: ", id="nothing but items"),
        pytest.param("/user-id/_x", "user-id._x: ", id="names with hyphen and underscore"),
        pytest.param("/größe/名前", "größe.名前: ", id="names beyond ASCII"),
        pytest.param("/a b/c.d", '["a b"]["c.d"]: ', id="names that need quotes"),
        pytest.param('/x/say "hi"\\', 'x["say \\"hi\\"\\\\"]: ', id="names with quotes in them"),
        pytest.param("/a~1b~0c", '["a/b~c"]: ', id="names that a pointer escapes"),
        pytest.param("/", '[""]: ', id="the empty name"),
        pytest.param("/a/٣", 'a["٣"]: ', id="digits that are no index"),
        pytest.param("/a\nb", '["a b"]: ', id="a name with a line break"),
    ],
)
def test_locations_are_reported_as_paths(pointer: str, path: str) -> None:
    """A path has the syntax of code, on one line."""
    assert f"- {path}wrong" == tool_error_text(Verdict((violation(pointer),))).split("\n")[1]


def test_messages_stay_on_their_line() -> None:
    """A line break in a message does not make a line of the text."""
    verdict = Verdict((violation("/a", "one\ntwo\u2028three"),))

    assert f"{HEAD}\n- a: one two three\n{TAIL}" == tool_error_text(verdict, tool="t")


@pytest.mark.parametrize(
    ("truncated", "last_line"),
    [
        pytest.param(False, "- and {} more", id="whole verdict"),
        pytest.param(True, "- and at least {} more", id="truncated verdict"),
    ],
)
def test_a_long_text_has_the_number_of_omitted_violations(truncated: bool, last_line: str) -> None:
    """The last line has the number of violations beyond the maximum length."""
    violations = [
        violation(f"/items/{n}/name", f"expected a string, found {n}") for n in range(500)
    ]
    text = tool_error_text(Verdict.listing(violations, truncated=truncated), tool="t")
    lines = text.split("\n")

    assert 1800 < len(text) <= 2000
    assert last_line.format(500 - (len(lines) - 3)) == lines[-2]
    assert (HEAD, TAIL) == (lines[0], lines[-1])


def test_the_text_of_a_truncated_verdict_says_so() -> None:
    """It says so even if every line fits."""
    text = tool_error_text(Verdict((violation("/a"),), truncated=True), tool="t")

    assert f"{HEAD}\n- a: wrong\n- and possibly more\n{TAIL}" == text


@pytest.mark.parametrize(
    ("pointer", "message", "tool"),
    [
        pytest.param("/" + "a" * 5000, "wrong", "t", id="a long name"),
        pytest.param("/a" * 5000, "wrong", "t", id="a long path"),
        pytest.param("/a", "wrong " * 5000, "t", id="a long message"),
        pytest.param("/a", "wrong", "t" * 5000, id="a long tool"),
        pytest.param("/" + '"' * 5000, "wrong" * 5000, "t\n" * 5000, id="all of them"),
    ],
)
def test_the_length_of_a_text_is_limited(pointer: str, message: str, tool: str) -> None:
    """It always has the first location, and ends with the advice."""
    verdict = Verdict(tuple(violation(pointer, message) for _ in range(30)))
    lines = tool_error_text(verdict, tool=tool).split("\n")

    assert len("\n".join(lines)) <= 2000
    assert lines[1].startswith("- ")
    assert "wrong" in lines[1]
    assert TAIL == lines[-1]
