"""Commands import only what they need, so that they start quickly."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"grpc", "google", "pydantic", "structlog", "asyncio", "sqlite3", "rich", "sidecheck"}
#: Modules that commands without a server do not import.
OFFLINE = HEAVY - {"asyncio", "sqlite3"}
ENGINES = {"jsonschema", "fastjsonschema", "re2", "msgspec", "referencing"}


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        pytest.param(["--help"], HEAVY | ENGINES, id="the help"),
        pytest.param(["completion", "fish"], HEAVY - {"asyncio"} | ENGINES, id="completion"),
        pytest.param(["check", "tool.json"], OFFLINE | {"jsonschema_rs"}, id="check"),
        pytest.param(["diff", "tool.json", "tool.json"], OFFLINE | {"jsonschema_rs"}, id="diff"),
        pytest.param(["validate", "--schema", "tool.json", "tool.json"], OFFLINE, id="validate"),
        pytest.param(["convert", "--to", "gemini", "tool.json"], OFFLINE, id="convert"),
        pytest.param(
            ["convert-call", "--mappings", "tool.json", "--tools", "tool.json", "tool.json"],
            OFFLINE,
            id="convert-call",
        ),
        pytest.param(["rules"], OFFLINE | {"jsonschema"}, id="rules"),
        pytest.param(["lint-messages", "tool.json"], OFFLINE, id="lint-messages"),
        pytest.param(["infer", "tool.json"], OFFLINE - {"rich"}, id="infer"),
        pytest.param(["info", "--target", "x"], {"pydantic", "structlog"} | ENGINES, id="info"),
    ],
)
def test_a_command_imports_only_its_own_modules(
    tmp_path: Path, arguments: list[str], unwanted: set[str]
) -> None:
    """A command imports nothing that only other commands need."""
    (tmp_path / "tool.json").write_text('{"name": "t", "inputSchema": {"type": "object"}}')
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "sidecheck_server", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    imported = set(re.findall(r"^import time:.*\| +([a-z0-9_]+)", done.stderr, re.MULTILINE))

    assert "click" in imported
    assert set() == imported & unwanted


@pytest.mark.parametrize(
    ("status", "message", "number"),
    [
        pytest.param(1, "Aborted!", signal.SIGINT, id="SIGINT"),
        pytest.param(143, "", signal.SIGTERM, id="SIGTERM"),
    ],
)
def test_a_command_ends_by_signals_that_were_ignored_at_the_start(
    status: int, message: str, number: signal.Signals
) -> None:
    """Shells start background jobs with SIGINT ignored."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        command = subprocess.Popen(
            [sys.executable, "-m", "sidecheck_server", "lint-messages", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(number, before)
    with command:
        assert command.stdin is not None
        # Longer than a pipe holds: once it is written, the command reads.
        command.stdin.write("\n" * (1 << 20))
        command.stdin.flush()
        command.send_signal(number)
        _, messages = command.communicate(timeout=300)

    assert (status, message) == (command.returncode, messages.strip())
