"""Published MCP servers behind `sidecheck proxy`: a real client sees what it sees without it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import mcp
import pytest
from support.published_servers import NODE, SERVERS, install_node_packages, prepare
from support.shared_material import REPOSITORY

_RECORDER = [sys.executable, str(REPOSITORY / "tests" / "support" / "recorder.py")]
_PROXY = [sys.executable, "-m", "sidecheck_server", "proxy", "--enforce"]
_SECONDS = 600

#: Has the session of a server's operations with a command, in an environment.
Driver = Callable[[list[dict[str, Any]], list[str], dict[str, str]], Awaitable[None]]


def python_client(mode: str) -> Driver:
    """Return the client of the Python SDK, which begins by *mode*."""

    async def drive(
        operations: list[dict[str, Any]], command: list[str], env: dict[str, str]
    ) -> None:
        parameters = mcp.StdioServerParameters(command=command[0], args=command[1:], env=env)
        async with mcp.Client(parameters, read_timeout_seconds=_SECONDS, mode=mode) as client:
            requests: Mapping[str, Callable[..., Awaitable[Any]]] = {
                "tools/list": client.list_tools,
                "tools/call": client.call_tool,
                "prompts/list": client.list_prompts,
                "resources/list": client.list_resources,
            }
            for operation in operations:
                await requests[operation["method"]](**operation.get("params", {}))

    return drive


async def typescript_client(
    operations: list[dict[str, Any]], command: list[str], env: dict[str, str]
) -> None:
    """Run the session with the client of the TypeScript SDK."""
    session = {"operations": operations, "command": command[0], "args": command[1:], "env": env}
    await asyncio.to_thread(
        subprocess.run,
        ["node", str(NODE / "client.mjs")],
        input=json.dumps(session),
        text=True,
        check=True,
        timeout=_SECONDS,
    )


async def record_session(
    name: str, drive: Driver, folder: Path, *, proxied: bool
) -> tuple[list[str], str]:
    """Return the lines that client and server exchange, and what the proxy reports."""
    prepare(folder / "files")
    record, report = folder / "record.txt", folder / "report.jsonl"
    server = SERVERS[name]
    proxy = [*_PROXY, "--report", str(report), "--"] if proxied else []
    filled = json.loads(
        json.dumps([server.installed(), server.operations]).replace("FOLDER", str(folder))
    )
    command, operations = filled
    env = {**os.environ, "MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    await drive(operations, [*_RECORDER, str(record), *proxy, *command], env)
    lines = [line.replace(str(folder), "FOLDER") for line in record.read_text().splitlines()]
    return lines, report.read_text() if proxied else ""


def _messages_of(side: str, record: list[str]) -> list[str]:
    """Return the messages of one side, in their order.

    But for the notification that everything sends at its own time after the handshake.
    """
    own = [message for message in record if message.startswith(f"{side} ")]
    return [message for message in own if "notifications/tools/list_changed" not in message]


def check_session(name: str, without: list[str], through: list[str], report: str) -> None:
    """Check that both records of a session are alike, and that there are no findings."""
    assert len(without) >= 2 * len(SERVERS[name].operations)
    for side in ("client", "server"):
        assert _messages_of(side, without) == _messages_of(side, through)
    assert not report


@pytest.mark.parametrize(
    ("name", "mode"), [(name, mode) for name, server in SERVERS.items() for mode in server.modes]
)
async def test_a_session_of_the_python_client_is_the_same(
    name: str, mode: str, tmp_path: Path
) -> None:
    """All messages are equal, with everything enforced."""
    drive = python_client(mode)
    without, _ = await record_session(name, drive, tmp_path / "without", proxied=False)
    through, report = await record_session(name, drive, tmp_path / "with", proxied=True)

    check_session(name, without, through, report)


@pytest.mark.parametrize("name", [name for name, server in SERVERS.items() if server.modes])
async def test_a_session_of_the_typescript_client_is_the_same(name: str, tmp_path: Path) -> None:
    """All messages are equal, with everything enforced."""
    install_node_packages()
    drive = typescript_client
    without, _ = await record_session(name, drive, tmp_path / "without", proxied=False)
    through, report = await record_session(name, drive, tmp_path / "with", proxied=True)

    check_session(name, without, through, report)
