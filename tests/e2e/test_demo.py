"""End-to-end tests of the demo: its output, its exit code, and its cleanup.

The demo checks its outcomes itself.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from support.shared_material import REPOSITORY, unavailable

DEMO = [sys.executable, str(REPOSITORY / "clients" / "python" / "demo")]
SERVERS = REPOSITORY / ".venv-demo" / "bin"
SECONDS = 600.0

SERVER = re.compile(r"^  (mcp-\S+) .*  (\d+ created)$", re.MULTILINE)
OUTCOME = re.compile(r"^  (\d+)  (\S+) .*  (valid|invalid|error)$", re.MULTILINE)
REASON = re.compile(r"^     (/\S+|\(root\)|) *([A-Z_]+)  +\S", re.MULTILINE)


@pytest.fixture
def servers() -> Path:
    """Return the folder of the MCP servers; skip the test if they are not installed."""
    if not (SERVERS / "mcp-server-git").exists():
        unavailable("the MCP servers of the demo are not installed; `make demo` installs them")
    return SERVERS


def start(folder: Path, *flags: str) -> "subprocess.Popen[str]":
    """Start the demo with *folder* for temporary files."""
    return subprocess.Popen(
        [*DEMO, *flags],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    """Wait for the demo and return its exit code, stdout and stderr."""
    try:
        output, messages = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()
        raise
    return process.returncode, output, messages


def remains_in(folder: Path) -> list[str]:
    """Return the files in *folder* and the processes whose working directory it is."""
    # Zombie processes have no working directory.
    processes = [
        " ".join(process.info["cmdline"] or [])
        for process in psutil.process_iter(["cwd", "cmdline"])
        if (process.info["cwd"] or "").startswith(str(folder))
    ]
    return processes + [path.name for path in folder.iterdir()]


@pytest.mark.usefixtures("servers")
def test_demo_reports_the_outcomes_for_real_tools(tmp_path: Path) -> None:
    """The demo registers the tools of both servers, validates every call, and exits with 0."""
    code, output, messages = finish(start(tmp_path))
    assert (0, "") == (code, messages)
    assert [("mcp-git", "12 created"), ("mcp-time", "2 created")] == SERVER.findall(output)
    assert [
        ("1", "git/git_status", "valid"),
        ("2", "git/git_status", "invalid"),
        ("3", "git/git_log", "invalid"),
        ("4", "git/git_show", "invalid"),
        ("5", "git/git_push", "error"),
        ("6", "git/git_branch", "invalid"),
        ("7", "time/convert_time", "invalid"),
        ("8", "time/get_current_time", "valid"),
    ] == OUTCOME.findall(output)
    assert [
        ("(root)", "REQUIRED"),
        ("/end_timestamp", "ANY_OF"),
        ("/max_count", "TYPE"),
        ("(root)", "PAYLOAD_NOT_JSON"),
        ("", "UNKNOWN_TOOL"),
        ("/branch_type", "ENUM"),
        ("/limit", "ADDITIONAL_PROPERTIES"),
        ("(root)", "REQUIRED"),
    ] == REASON.findall(output)
    assert "All 10 outcomes were as expected; 2 tools were called." in output
    assert [] == remains_in(tmp_path)


@pytest.mark.usefixtures("servers")
@pytest.mark.parametrize("is_ignored", [False, True], ids=["by default", "ignored at the start"])
def test_interrupted_demo_cleans_up(tmp_path: Path, is_ignored: bool) -> None:
    """Ctrl-C ends the service and the MCP servers, and the exit code is 130.

    Shells start background jobs with SIGINT ignored.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if is_ignored else signal.SIG_DFL)
    try:
        process = start(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Sidecheck ")
    process.send_signal(signal.SIGINT)
    code, _, messages = finish(process)
    assert (130, "demo: interrupted\n") == (code, messages)
    assert [] == remains_in(tmp_path)


def test_server_without_response_is_named(servers: Path, tmp_path: Path) -> None:
    """If a server ends without a response, the demo fails with the server's stderr."""
    environment = tmp_path / "environment"
    temporary = tmp_path / "temporary"
    (environment / "bin").mkdir(parents=True)
    temporary.mkdir()
    for name, command in {
        "python": f'exec "{servers}/python" "$@"',
        "mcp-server-git": "echo out of order >&2; exit 3",
        "mcp-server-time": f'exec "{servers}/mcp-server-time" "$@"',
    }.items():
        program = environment / "bin" / name
        program.write_text(f"#!/bin/sh\n{command}\n")
        program.chmod(0o755)
    expected = (1, "", "demo: mcp-server-git: out of order\nMCPError: Connection closed\n")
    assert expected == finish(start(temporary, "--mcp-environment", str(environment)))
    assert [] == remains_in(temporary)


def test_absent_servers_are_named(tmp_path: Path) -> None:
    """The message names the missing servers and the command that installs them."""
    code, output, messages = finish(start(tmp_path, "--mcp-environment", "absent"))
    assert (1, "") == (code, output)
    assert messages.startswith("demo: python, mcp-server-git, mcp-server-time not found in ")
    assert "`make demo` installs" in messages
