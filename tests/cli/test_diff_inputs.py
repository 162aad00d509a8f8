"""`sidecheck diff`: what it reads."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

TOOL = {"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a folder with two files that are equal."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text(json.dumps(TOOL))
    (tmp_path / "new.json").write_text(json.dumps(TOOL))


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    """Run the command in this process; its exceptions propagate."""
    return CliRunner().invoke(sidecheck, ["diff", *arguments], input=stdin, catch_exceptions=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "-"], "standard input (-) can be read only once"),
        (["gone.json", "new.json"], "cannot read gone.json"),
        (["broken.json", "new.json"], "broken.json:1:2: PAYLOAD_NOT_JSON: "),
        (
            ["config.json", "new.json"],
            "config.json: nothing in it is a tool definition",
        ),
        (["old.json"], "give NEW, --url, or the command of a server after --"),
        (["old.json", "new.json", "--fail-on", "risk"], "Invalid value for '--fail-on'"),
    ],
)
def test_a_wrong_command_exits_with_2(arguments: list[str], message: str) -> None:
    """No tools are compared."""
    Path("broken.json").write_text("[")
    Path("config.json").write_text('{"version": 2}')
    result = run(*arguments)

    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr


def test_one_side_may_be_standard_input() -> None:
    """Other commands have the same convention."""
    result = run("old.json", "-", stdin=json.dumps(TOOL).encode())

    assert (0, "1 tool: 1 unchanged (assume-closed)\n") == (result.exit_code, result.stdout)


def test_documents_are_referred_to_by_both_sides() -> None:
    """A schema of either file may need one."""
    tool = {"name": "t", "inputSchema": {"type": "object", "$ref": "urn:example:base"}}
    Path("old.json").write_text(json.dumps(tool))
    Path("new.json").write_text(json.dumps({**tool, "title": "T"}))
    Path("base.json").write_text("{}")
    document = ("--document", "urn:example:base", "base.json")

    assert 0 == run("old.json", "new.json", "--fail-on", "undecided", *document).exit_code


@pytest.mark.parametrize(
    ("wrap", "warns"),
    [
        (lambda tools: {"tools": tools}, False),
        (lambda tools: {"tools": tools, "nextCursor": None}, False),
        (lambda tools: {"tools": tools, "nextCursor": "2"}, True),
        (
            lambda tools: {
                "jsonrpc": "2.0",
                "id": 1,
                "result": {"tools": tools, "nextCursor": "2"},
            },
            True,
        ),
    ],
)
def test_one_page_of_a_list_is_compared_with_a_warning(
    wrap: Callable[[Any], Any], warns: bool
) -> None:
    """Tools that seem to be removed may be on another page."""
    Path("new.json").write_text(json.dumps(wrap([TOOL])))
    Path("old.json").write_text(json.dumps([TOOL]))
    result = run("old.json", "new.json")
    warning = (
        'Warning: new.json: it has a "nextCursor", so it is one page of a list, and the tools of '
        "other pages are missing\n"
    )

    assert (0, "1 tool: 1 unchanged (assume-closed)\n") == (result.exit_code, result.stdout)
    assert (warning if warns else "") == result.stderr


def test_an_unreadable_definition_has_its_position() -> None:
    """The position may be in the old file."""
    Path("old.json").write_text('[\n{"name": "t"}]')
    Path("new.json").write_text(json.dumps([TOOL]))
    result = run("old.json", "new.json", "--fail-on", "undecided")

    assert (1, "  old.json:2:1: undecided NOT_COMPARED") == (
        result.exit_code,
        result.stdout.splitlines()[1],
    )


def test_the_last_of_several_tools_with_one_name_is_compared() -> None:
    """Registration does the same; a warning reports it."""
    Path("old.json").write_text(json.dumps([{**TOOL, "title": "T"}, TOOL]))
    result = run("old.json", "new.json")

    assert (0, "1 tool: 1 unchanged (assume-closed)\n") == (result.exit_code, result.stdout)
    assert (
        'Warning: old.json: several tools have the name "t"; only the last one is compared\n'
    ) == result.stderr
