"""Output on a terminal: colours, excerpts, line widths and the progress bar."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

SCHEMA = {"properties": {"count": {"type": "integer"}}, "additionalProperties": False}
CLOSED = {**SCHEMA, "type": "object"}
PAYLOAD = '{\n\t"count": "three",\n  "日本": 1\n}\n'
STYLES = re.compile(r"\x1b\[[0-9;]*m")
EXPECTED = """\
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
    """The current folder, with a schema and an invalid payload."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "bad.json").write_text(PAYLOAD)
    return tmp_path


def test_a_terminal_gets_colours_and_excerpts(on_terminal: Any) -> None:
    """The mark is below the position, also after tabs and wide characters."""
    code, output = on_terminal("validate", "--schema", "schema.json", "bad.json")

    assert (1, EXPECTED) == (code, STYLES.sub("", output))
    assert "bad.json: \x1b[0m\x1b[1;31minvalid\x1b[0m\n" in output
    assert "\x1b[36m   | \x1b[0m             \x1b[1;31m^~~~~~~\x1b[0m\n" in output


def test_no_color_disables_colours_alone(on_terminal: Any) -> None:
    """See https://no-color.org."""
    _, output = on_terminal("validate", "--schema", "schema.json", "bad.json", NO_COLOR="1")

    assert [] == re.findall(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", output)
    assert EXPECTED == STYLES.sub("", output)


def test_excerpts_can_be_disabled(on_terminal: Any) -> None:
    """Each violation is one row."""
    _, output = on_terminal("validate", "--schema", "schema.json", "--no-excerpts", "bad.json")

    assert 4 == len(output.splitlines())
    assert "\x1b[1;31merror" in output


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
def test_no_row_is_wider_than_the_terminal(folder: Path, on_terminal: Any, columns: int) -> None:
    """Long lines are cut around the position; messages wrap."""
    tool = {
        "name": "t",
        "description": "d" * 300,
        "inputSchema": {"type": "object", "properties": {"日" * 60: {"type": "x" * 300}}},
    }
    (folder / "long.json").write_text(json.dumps([tool, tool], ensure_ascii=False))
    _, output = on_terminal("check", "long.json", columns=columns)
    rows = STYLES.sub("", output).splitlines()

    assert columns >= max(len(row) + row.count("日") for row in rows)
    marks = [row for row in rows if "^" in row]
    shown = [rows[rows.index(mark) - 1] for mark in marks]
    assert all(row.endswith("...") for row in shown)
    assert 4 == len(marks)


@pytest.mark.parametrize("columns", [40, 80])
def test_wide_losses_are_below_their_tool(folder: Path, on_terminal: Any, columns: int) -> None:
    """One row has location and effect, the next has the message."""
    tool = {"name": "git_status", "description": "d", "title": "t", "inputSchema": CLOSED}
    (folder / "tool.json").write_text(json.dumps(tool))
    _, output = on_terminal(
        "convert", "--to", "openai-chat", "--mode", "strict", "tool.json", columns=columns
    )
    rows = STYLES.sub("", output).splitlines()
    losses = rows[rows.index("git_status") :]
    words = " ".join(row.strip() for row in losses)

    assert columns >= max(map(len, losses))
    assert words.startswith(
        "git_status /inputSchema required: encoded, equivalent "
        'the optional property "count" must be given;'
    )


def test_losses_that_fit_the_terminal_are_columns(folder: Path, on_terminal: Any) -> None:
    """Each loss is a row."""
    tool = {"name": "git_status", "description": "d", "title": "t", "inputSchema": CLOSED}
    (folder / "tool.json").write_text(json.dumps(tool))
    _, output = on_terminal("convert", "--to", "openai-chat", "tool.json", columns=120)

    assert "TOOL        LOCATION  KEYWORD  ACTION   EFFECT      MESSAGE\n" in STYLES.sub("", output)


def test_long_work_shows_a_progress_bar(folder: Path, on_terminal: Any) -> None:
    """It is erased at the end, and not written to a pipe."""
    properties = {f"p{n}": {"type": "string"} for n in range(150)}
    tools = [
        {
            "name": f"t{n}",
            "inputSchema": {"type": "object", "properties": properties, "title": str(n)},
        }
        for n in range(200)
    ]
    (folder / "many.json").write_text(json.dumps(tools))
    code, output = on_terminal("check", "many.json")

    assert 0 == code
    assert "Checking tools" in output
    assert STYLES.sub("", output).endswith("200 tools, no violations\n")


def test_values_that_are_hidden_are_not_shown(on_terminal: Any) -> None:
    """An excerpt would show them."""
    _, output = on_terminal("validate", "--schema", "schema.json", "--hide-values", "bad.json")

    assert "three" not in output


def test_help_fits_the_terminal_and_ends_with_examples(on_terminal: Any) -> None:
    """Every line of every command is tested."""
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
        code, output = on_terminal(*command.split(), "--help")
        head, _, tail = output.partition("\n  Examples:\n")

        assert 0 == code
        assert 80 >= max(map(len, output.splitlines()))
        assert "\\b" not in head
        assert [] == [line for line in tail.splitlines() if not line.startswith("    ")]
        assert f"    sidecheck {command}".rstrip() in tail
