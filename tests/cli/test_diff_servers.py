"""`sidecheck diff` with the tools of a running server, and `tools register --compatibility`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sidecheck import BlockingClient, Document, ToolDefinition
from sidecheck_server.cli import sidecheck
from support.running import RunningServer

SEARCH = '{"name": "search", "inputSchema": {"type": "object", "maxProperties": %d}}'
PURGE = '{"name": "purge", "inputSchema": {"type": "object"}}'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with tools as they were, and a file that breaks their callers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text(f"[{SEARCH % 5}, {PURGE}]")
    (tmp_path / "new.json").write_text(SEARCH % 3)
    return tmp_path


def outcome_of(server: RunningServer, *words: str) -> tuple[int, str, str]:
    """Return how the command exits and what it says."""
    arguments = [*words, "--target", server.address]
    result = CliRunner().invoke(sidecheck, arguments, catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_registered_tools_are_compared(server: RunningServer) -> None:
    """They may be on either side, in every format; locations are in the list of tools."""
    outcome_of(server, "tools", "register", "old.json", "--server", "git")
    assert (
        1,
        (
            "search: breaking\n"
            "  new.json:1:71: breaking MAX_PROPERTIES_LOWERED /inputSchema/maxProperties\n"
            "    maxProperties was lowered from 5 to 3\n"
            '    {"undeclared0":1,"undeclared1":1,"undeclared2":1,"undeclared3":1} was valid, and '
            "is not: expected at most 3 properties, found 4\n"
            "purge: breaking\n"
            "  server:git:2:1: breaking TOOL_REMOVED\n"
            "    the tool was removed\n"
            "2 tools: 2 breaking (assume-closed)\n"
        ),
        "",
    ) == outcome_of(server, "diff", "server:git", "new.json")
    assert (0, "2 tools: 2 unchanged (assume-closed)\n", "") == outcome_of(
        server, "diff", "server:git", "server:git"
    )
    code, output, _ = outcome_of(server, "diff", "old.json", "server:git", "--format", "json")
    assert (0, False) == (code, json.loads(output)["differs"])


def test_registered_documents_are_compared(server: RunningServer) -> None:
    """The option for documents applies to files only."""
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "x:a"}}}}
    with BlockingClient(server.address) as client:
        client.register("s", ToolDefinition(tool, (Document("x:a", {"type": "string"}),)))

    assert (0, "1 tool: 1 unchanged (assume-closed)\n", "") == outcome_of(
        server, "diff", "server:s", "server:s"
    )


@pytest.mark.parametrize("name", ["server:", "server:gti"])
def test_a_server_without_tools_may_be_misspelled(server: RunningServer, name: str) -> None:
    code, output, error = outcome_of(server, "diff", name, "new.json")

    assert (2, "") == (code, output)
    assert f"no tools are registered for the server {name.partition(':')[2]!r}" in error


def test_no_server_is_an_error_of_the_command(unused_address: str) -> None:
    result = CliRunner().invoke(
        sidecheck,
        ["diff", "server:git", "new.json", "--target", unused_address, "--timeout", "300"],
    )

    assert (2, "") == (result.exit_code, result.stdout)
    assert f"UNAVAILABLE: connection refused at {unused_address}" in result.stderr


@pytest.fixture
def unused_address() -> str:
    """Return an address at which nothing listens."""
    return "127.0.0.1:1"


def test_registrations_that_break_callers_are_rejected(server: RunningServer) -> None:
    """Removals are rejected too; the exit code reports it."""
    outcome_of(server, "tools", "register", "old.json", "--server", "git")
    gate = ("--compatibility", "reject-breaking")
    message = (
        "the definition breaks callers of the registered one: maxProperties was lowered from 5 to 3"
    )
    place = "new.json:1:71: {}  BREAKING_CHANGE  search /inputSchema/maxProperties"
    assert (
        1,
        (f"rejected   search\n{place.format('error')}  {message}\n1 tool, 1 rejected, 1 error\n"),
        "",
    ) == outcome_of(server, "tools", "register", "new.json", "--server", "git", *gate)
    (Path("search.json")).write_text(SEARCH % 5)
    assert (
        1,
        (
            "unchanged  search\n"
            "kept       purge\n"
            "1 tool, 1 unchanged, 1 kept, since removing them breaks callers\n"
        ),
        "",
    ) == outcome_of(
        server, "tools", "register", "search.json", "--server", "git", "--replace", *gate
    )
    assert (
        0,
        (
            "changed    search\n"
            f"{place.format('warning')}  {message}\n"
            "1 tool, 1 changed, 1 warning\n"
        ),
        "",
    ) == outcome_of(
        server, "tools", "register", "new.json", "--server", "git", "--compatibility", "report"
    )
