"""`sidecheck diff` runs its proofs in a process that may die; the command never does."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sidecheck_server.cli import sidecheck
from sidecheck_server.services import comparison
from sidecheck_server.workers import EndCause, Workers, WorkerStartError
from support.dying_comparisons import DyingComparison
from support.worker_processes import worker_processes

NAMES = ("before", "crashes", "hangs", "fills memory", "after")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder, with an old and a new file whose every tool takes less."""
    monkeypatch.chdir(tmp_path)
    for file, maximum in (("old.json", 5), ("new.json", 4)):
        tools = [tool(name, maximum) for name in NAMES]
        (tmp_path / file).write_text(json.dumps({"tools": tools}))


def tool(name: str, maximum: int) -> dict[str, Any]:
    """Return a tool whose argument has a *maximum*."""
    properties = {"n": {"type": "integer", "maximum": maximum}}
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


def test_a_proof_that_ends_its_process_leaves_one_tool_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its changes are listed, other tools are decided, and no process remains."""
    monkeypatch.setattr(comparison, "CompareTools", DyingComparison)
    result = CliRunner().invoke(
        sidecheck, ["diff", "old.json", "new.json", "--format", "json"], catch_exceptions=False
    )
    tools = {tool["name"]: tool for tool in json.loads(result.stdout)["tools"]}

    assert (1, "", []) == (result.exit_code, result.stderr, worker_processes())
    assert {
        "before": "breaking",
        "crashes": "undecided",
        "hangs": "undecided",
        "fills memory": "undecided",
        "after": "breaking",
    } == {name: tool["assume_closed"] for name, tool in tools.items()}
    assert {("MAXIMUM_LOWERED",)} == {
        tuple(change["code"] for change in tool["changes"]) for tool in tools.values()
    }
    reasons = {name: tools[name]["schemas"][0]["as_written"]["reason"] for name in NAMES[1:4]}
    assert "the worker that searched for a proof crashed or was killed" == reasons["crashes"]
    assert "compile_seconds" in reasons["hangs"]
    assert "worker_bytes" in reasons["fills memory"]


def test_a_process_that_cannot_start_exits_with_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no verdict on a tool."""

    async def fail(_: Workers) -> None:
        raise WorkerStartError(EndCause.SYSTEM, "no room")

    monkeypatch.setattr(Workers, "start", fail)
    result = CliRunner().invoke(sidecheck, ["diff", "old.json", "new.json"])

    assert (2, "", "Error: no worker process can start: no room\n") == (
        result.exit_code,
        result.stdout,
        result.stderr,
    )
    assert [] == worker_processes()
