"""What a person at a terminal sees: colours, excerpts, and a bar if it takes long."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

SCHEMA = {"properties": {"count": {"type": "integer"}}, "additionalProperties": False}
CLOSED = {**SCHEMA, "type": "object"}
PAYLOAD = '{\n\t"count": "three",\n  "日本": 1\n}\n'
STYLES = re.compile(r"\x1b\[[0-9;]*m")
SEEN = """\
bad.json: invalid
bad.json:2:11: error TYPE at /count
  expected an integer, found the string "three"
   |
 2 |     "count": "three",
   |              ^~~~~~~

bad.json:3:3: error ADDITIONAL_PROPERTIES at /日本
  unknown property "日本"; allowed: "count"
   |
 3 |   "日本": 1
   |   ^~~~~~

1 payload, 2 errors
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a schema and a payload that is invalid."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "bad.json").write_text(PAYLOAD)
    return tmp_path


def test_a_terminal_gets_colours_and_excerpts(on_terminal: Any) -> None:
    """The mark stands under the place, whatever is wide or a tab before it."""
    code, said = on_terminal("validate", "--schema", "schema.json", "bad.json")

    assert (1, SEEN) == (code, STYLES.sub("", said))
    assert "bad.json: \x1b[0m\x1b[1;31minvalid\x1b[0m\n" in said
    assert "\x1b[36m   | \x1b[0m             \x1b[1;31m^~~~~~~\x1b[0m\n" in said


def test_no_color_takes_the_colours_and_leaves_the_rest(on_terminal: Any) -> None:
    """As https://no-color.org has it."""
    _, said = on_terminal("validate", "--schema", "schema.json", "bad.json", NO_COLOR="1")

    assert [] == re.findall(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", said)
    assert SEEN == STYLES.sub("", said)


def test_a_terminal_can_do_without_excerpts(on_terminal: Any) -> None:
    """A row each is enough for some."""
    _, said = on_terminal("validate", "--schema", "schema.json", "--no-excerpts", "bad.json")

    assert 4 == len(said.splitlines())
    assert "\x1b[1;31merror" in said


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
def test_no_row_is_wider_than_the_terminal(folder: Path, on_terminal: Any, columns: int) -> None:
    """Long lines are cut around the place; messages go on in the next line."""
    tool = {
        "name": "t",
        "description": "d" * 300,
        "inputSchema": {"type": "object", "properties": {"日" * 60: {"type": "x" * 300}}},
    }
    (folder / "long.json").write_text(json.dumps([tool, tool], ensure_ascii=False))
    _, said = on_terminal("check", "long.json", columns=columns)
    rows = STYLES.sub("", said).splitlines()

    assert columns >= max(len(row) + row.count("日") for row in rows)
    marks = [row for row in rows if "^" in row]
    shown = [rows[rows.index(mark) - 1] for mark in marks]
    assert all(row.endswith("...") for row in shown)
    assert 4 == len(marks)


@pytest.mark.parametrize("columns", [40, 80])
def test_losses_too_wide_for_columns_stand_below_their_tool(
    folder: Path, on_terminal: Any, columns: int
) -> None:
    """Two rows for each: where, and what."""
    tool = {"name": "git_status", "description": "d", "title": "t", "inputSchema": CLOSED}
    (folder / "tool.json").write_text(json.dumps(tool))
    _, said = on_terminal(
        "convert", "--to", "openai-chat", "--mode", "strict", "tool.json", columns=columns
    )
    rows = STYLES.sub("", said).splitlines()

    assert columns >= max(map(len, rows[rows.index("git_status") :]))
    assert [
        "git_status",
        "  /inputSchema required: encoded, same",
        '    the optional member "count" must be',
    ] == [row[:39] for row in rows[rows.index("git_status") :][:3]]


def test_losses_that_fit_the_terminal_are_columns(folder: Path, on_terminal: Any) -> None:
    """One row for each."""
    tool = {"name": "git_status", "description": "d", "title": "t", "inputSchema": CLOSED}
    (folder / "tool.json").write_text(json.dumps(tool))
    _, said = on_terminal("convert", "--to", "openai-chat", "tool.json", columns=120)

    assert "TOOL        LOCATION  KEYWORD  ACTION   EFFECT  MESSAGE\n" in STYLES.sub("", said)


def test_long_work_shows_a_bar_that_goes_away(folder: Path, on_terminal: Any) -> None:
    """On standard error, so that a pipe does not get it."""
    properties = {f"p{n}": {"type": "string"} for n in range(150)}
    tools = [
        {
            "name": f"t{n}",
            "inputSchema": {"type": "object", "properties": properties, "title": str(n)},
        }
        for n in range(200)
    ]
    (folder / "many.json").write_text(json.dumps(tools))
    code, said = on_terminal("check", "many.json")

    assert 0 == code
    assert "Checking tools" in said
    assert STYLES.sub("", said).endswith("200 tools, no violations\n")


def test_values_that_are_hidden_are_not_shown(on_terminal: Any) -> None:
    """An excerpt would show them."""
    _, said = on_terminal("validate", "--schema", "schema.json", "--hide-values", "bad.json")

    assert "three" not in said


def test_help_fits_the_terminal_and_ends_with_examples(on_terminal: Any) -> None:
    """Of every command, line by line."""
    commands = [
        "",
        "check",
        "completion",
        "convert",
        "healthcheck",
        "info",
        "convert-call",
        "serve",
    ]
    commands += ["validate", "tools"]
    commands += [f"tools {name}" for name in ("register", "list", "get", "delete")]
    for command in commands:
        code, said = on_terminal(*command.split(), "--help")
        head, _, tail = said.partition("\n  Examples:\n")

        assert 0 == code
        assert 80 >= max(map(len, said.splitlines()))
        assert "\\b" not in head
        assert [] == [line for line in tail.splitlines() if not line.startswith("    ")]
        assert f"    sidecheck {command}".rstrip() in tail
