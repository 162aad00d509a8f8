"""Commands import only what they need, so that they start quickly."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.shared_material import REPOSITORY

HEAVY = {"grpc", "google", "pydantic", "structlog", "asyncio", "sqlite3", "rich", "sidecheck"}
#: Modules that commands without a server do not import.
OFFLINE = HEAVY - {"asyncio", "sqlite3"}
ENGINES = {"jsonschema", "fastjsonschema", "re2", "msgspec", "referencing"}
#: Modules that a proxy over stdio never imports for the first answer.
BEYOND_CHECKS = HEAVY - {"asyncio", "sqlite3"} | {
    "aiohttp",
    "anyio",
    "attr",
    "griffe",
    "jsonschema",
    "jsonschema_specifications",
    "prometheus_client",
    "pydantic_settings",
    "referencing",
    "starlette",
    "uvicorn",
}
#: Modules that the checks of a proxy import, and its relay does not.
CHECKS = {"cachetools", "fastjsonschema", "idna", "multiprocessing", "re2", "sqlite3"}
HANDSHAKE = (
    '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion":'
    ' "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}\n'
)
SERVER = [sys.executable, str(REPOSITORY / "tests" / "support" / "scripted_server.py")]


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        pytest.param(["--help"], HEAVY | ENGINES, id="the help"),
        pytest.param(["--version"], HEAVY | ENGINES, id="the version"),
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
    imported = imports_in(done.stderr)

    assert "click" in imported
    assert set() == imported & unwanted


def imports_in(text: str) -> set[str]:
    """Return the top-level modules in the output of `python -X importtime`."""
    return set(re.findall(r"^import time:.*\| +([a-z0-9_]+)", text, re.MULTILINE))


def test_a_proxy_relays_before_it_imports_checks() -> None:
    """The command and the relay over stdio need only messages, options and the event loop."""
    program = (
        "import sys, sidecheck_server.__main__, sidecheck_server.cli.proxy, "
        "sidecheck_server.cli.proxy_run; print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True
    )
    modules = done.stdout.split()
    top_level = {module.partition(".")[0] for module in modules}
    layers = ("sidecheck_server.core.mcp.rules", "sidecheck_server.server", "sidecheck_server.rpc")

    assert {"asyncio", "click", "msgspec"} <= top_level
    assert set() == top_level & (BEYOND_CHECKS | CHECKS)
    assert [] == [module for module in modules if module.startswith(layers)]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param([], id="audit"),
        pytest.param(["--enforce"], id="enforced"),
    ],
)
def test_a_proxy_checks_a_handshake_without_a_worker(options: list[str]) -> None:
    """The first exchange needs neither another process nor the libraries of the service."""
    proxy = [sys.executable, "-X", "importtime", "-m", "sidecheck_server", "proxy"]
    done = subprocess.run(
        [*proxy, *options, "--", *SERVER],
        input=HANDSHAKE,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    imported = imports_in(done.stderr)

    assert (0, 1) == (done.returncode, json.loads(done.stdout)["id"])
    assert set() == imported & BEYOND_CHECKS
    # Only the start of another process imports it.
    assert "sidecheck_server.workers.process" in done.stderr
    assert "multiprocessing.popen_spawn_posix" not in done.stderr


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
