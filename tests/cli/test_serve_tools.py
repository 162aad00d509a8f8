"""`sidecheck serve --tools`: tools that are registered before the server is ready."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from sidecheck import BlockingClient, RegisteredTool
from sidecheck_server.cli import sidecheck
from support.running import RunningServer

LOG = {"name": "log", "inputSchema": {"type": "object", "required": ["count"]}}
DIFF = {"name": "diff", "inputSchema": {"type": "object"}}
BAD = {"name": "secret", "inputSchema": {"type": "integr"}}


@pytest.fixture
def git(tmp_path: Path) -> Path:
    """A file with two good tools and a bad one between them."""
    file = tmp_path / "git.json"
    file.write_text(json.dumps({"tools": [LOG, BAD, DIFF]}))
    return file


def preload_events(running: RunningServer) -> list[dict[str, object]]:
    """Return what the server logged of its tools before it was ready, without times."""
    return [
        {name: value for name, value in event.items() if name != "timestamp"}
        for event in running.events
        if str(event["event"]).startswith("preload.")
    ]


def registered(running: RunningServer) -> list[tuple[str, str]]:
    """Return the servers and the names of all registered tools."""
    with BlockingClient(running.address, timeout=120) as client:
        return [(tool.server, tool.name) for tool in client.list()]


def test_tools_of_files_are_registered_before_the_server_is_ready(
    tmp_path: Path, git: Path
) -> None:
    """An invalid tool is logged by its code, without its own texts."""
    second_file = tmp_path / "b.json"
    second_file.write_text(json.dumps(DIFF))
    files = ("--tools", str(git), "--tools", str(second_file))
    running = RunningServer(tmp_path, *files)
    try:
        assert [("b", "diff"), ("git", "diff"), ("git", "log")] == registered(running)
        with BlockingClient(running.address, timeout=120) as client:
            assert not client.validate(RegisteredTool("git", "log"), {}).valid
        rejected = {"event": "preload.rejected", "level": "warning"}
        done = {"event": "preload.registered", "level": "info"}
        assert [
            {**rejected, "server": "git", "tool": 1, "codes": ["CONST"]},
            {**done, "server": "git", "tools": 2, "rejected": 1},
            {**done, "server": "b", "tools": 1, "rejected": 0},
        ] == preload_events(running)
        assert "secret" not in running.log_text()
    finally:
        running.close()


def test_servers_are_named_in_the_order_of_the_files(tmp_path: Path, git: Path) -> None:
    """Each has its own flag; a second start finds the tools of the first."""
    flags = ("--registry", str(tmp_path / "tools.db"), "--tools", str(git))
    for _ in range(2):
        running = RunningServer(tmp_path, *flags, "--tools-server", "main")
        try:
            assert [("main", "diff"), ("main", "log")] == registered(running)
        finally:
            running.close()


def test_too_many_tools_are_a_wrong_command(git: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It exits before the server starts."""
    monkeypatch.setenv("SIDECHECK_LIMITS__BATCH_ITEMS", "2")
    result = CliRunner().invoke(sidecheck, ["serve", "--tools", str(git)], catch_exceptions=False)

    assert (2, "") == (result.exit_code, result.stdout)
    assert "3, more than the limit of 2 (batch_items)" in result.stderr


def test_files_can_be_named_in_the_settings(tmp_path: Path, git: Path) -> None:
    """Environment and file are read; a flag takes precedence."""
    config = tmp_path / "settings.toml"
    config.write_text(f'[[tools]]\nfile = "{git}"\nserver = "file"\n')
    variable = json.dumps([{"file": str(git), "server": "variable"}])
    tool_names = []
    for flags, environment in (
        ((), {}),
        ((), {"SIDECHECK_TOOLS": variable}),
        (("--tools", str(git)), {"SIDECHECK_TOOLS": variable}),
    ):
        running = RunningServer(tmp_path, "--config", str(config), *flags, **environment)
        try:
            tool_names.append({server for server, _ in registered(running)})
        finally:
            running.close()

    assert [{"file"}, {"variable"}, {"git"}] == tool_names


def test_tools_beyond_a_quota_stop_the_start(
    tmp_path: Path, git: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is one line."""
    monkeypatch.setenv("SIDECHECK_REGISTRY_QUOTAS__SERVER_TOOLS", "1")
    flags = ["serve", "--listen", "", "--unix-socket", str(tmp_path / "s"), "--tools", str(git)]
    start = subprocess.run(
        [sys.executable, "-m", "sidecheck_server", *flags, "--log-level", "error"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )

    assert (1, "") == (start.returncode, start.stdout)
    assert (
        "Error: the service cannot start: the registration would lead to 2 tools of the server, "
        "more than the quota of 1 (server_tools), so nothing was registered; delete tools that "
        "are not used, or raise the quota in the server's setting registry_quotas.server_tools\n"
    ) == start.stderr


def test_a_file_beyond_a_quota_is_served_with_a_warning(tmp_path: Path, git: Path) -> None:
    """The warning has the quota and the excess."""
    flags = ("--registry", str(tmp_path / "tools.db"))
    RunningServer(tmp_path, *flags, "--tools", str(git)).close()
    running = RunningServer(tmp_path, *flags, SIDECHECK_REGISTRY_QUOTAS__TOOLS="1")
    try:
        assert [("git", "diff"), ("git", "log")] == registered(running)
        assert [("tools", 1, 2)] == [
            (event["quota"], event["limit"], event["usage"])
            for event in running.events
            if event["event"] == "registry.over_quota"
        ]
    finally:
        running.close()
