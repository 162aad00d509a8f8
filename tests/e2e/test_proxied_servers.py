"""Published MCP servers behind `sidecheck proxy`: a real client sees what it sees without it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp
import pytest
from support.shared_material import REPOSITORY, unavailable

_RECORDER = [sys.executable, str(REPOSITORY / "tests" / "support" / "recorder.py")]
_PROXY = [sys.executable, "-m", "sidecheck_server", "proxy", "--enforce", "--"]
_PYTHON = REPOSITORY / ".venv-demo" / "bin"
_NODE = REPOSITORY / "tests" / "proxy" / "servers"
_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Published:
    """A server, and calls that it answers alike each time."""

    #: Its command; FOLDER stands for a folder of the test.
    command: Sequence[str]
    calls: Sequence[tuple[str, dict[str, Any]]]
    #: How its client begins: ``legacy`` for `initialize`, or a version without a handshake.
    modes: Sequence[str] = ("legacy",)


_SERVERS = {
    "git": Published(
        ["mcp-server-git"],
        [
            ("git_status", {"repo_path": "FOLDER"}),
            ("git_log", {"repo_path": "FOLDER", "max_count": 1}),
            ("git_show", {"repo_path": "FOLDER", "revision": "no such revision"}),
        ],
        ("legacy", "2026-07-28"),
    ),
    "time": Published(
        ["mcp-server-time", "--local-timezone", "UTC"],
        [
            (
                "convert_time",
                {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Africa/Abidjan"},
            )
        ],
        ("legacy", "2026-07-28"),
    ),
    "everything": Published(
        ["mcp-server-everything"],
        [
            ("echo", {"message": "hello"}),
            ("get-sum", {"a": 1, "b": 2}),
            ("get-structured-content", {"location": "New York"}),
            ("get-tiny-image", {}),
            ("get-resource-links", {"count": 3}),
        ],
    ),
    "filesystem": Published(
        ["mcp-server-filesystem", "FOLDER"],
        [
            ("read_text_file", {"path": "FOLDER/notes.txt"}),
            ("write_file", {"path": "FOLDER/more.txt", "content": "more"}),
            ("read_text_file", {"path": "FOLDER/none.txt"}),
        ],
    ),
    "memory": Published(
        ["mcp-server-memory"],
        [
            ("read_graph", {}),
            (
                "create_entities",
                {"entities": [{"name": "a", "entityType": "b", "observations": ["c"]}]},
            ),
            ("search_nodes", {"query": "a"}),
        ],
    ),
}


def command_of(name: str) -> list[str]:
    """Return the command of the server *name*, which is installed if it is not yet."""
    program, *arguments = _SERVERS[name].command
    if (_PYTHON / program).exists():
        return [str(_PYTHON / program), *arguments]
    if shutil.which("npm") is None:
        unavailable(f"no npm on PATH, and no {program} in {_PYTHON}: `make demo` installs some")
    installed = _NODE / "node_modules" / ".bin" / program
    if not installed.exists():
        subprocess.run(
            ["npm", "ci", "--no-audit", "--no-fund"], cwd=_NODE, check=True, timeout=_SECONDS
        )
    if not installed.exists():
        unavailable(f"no {program} in {_PYTHON}: `make demo` installs it")
    return [str(installed), *arguments]


def prepare(folder: Path) -> None:
    """Make *folder* a git repository with a file and a commit that is the same each time."""
    folder.mkdir()
    (folder / "notes.txt").write_text("notes\n")
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    date = "2026-01-01T00:00:00Z"
    fixed = {**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*settings, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=folder, check=True, env=fixed)


async def record_session(name: str, mode: str, proxy: list[str], folder: Path) -> list[str]:
    """Return the lines that client and server exchange, through *proxy* if it is not empty."""
    prepare(folder / "files")
    server = [word.replace("FOLDER", str(folder / "files")) for word in command_of(name)]
    record = folder / "record.txt"
    words = [*_RECORDER, str(record), *proxy, *server]
    parameters = mcp.StdioServerParameters(
        command=words[0],
        args=words[1:],
        env={**os.environ, "MEMORY_FILE_PATH": str(folder / "memory.jsonl")},
    )
    async with mcp.Client(parameters, read_timeout_seconds=_SECONDS, mode=mode) as client:
        await client.list_tools()
        for tool, arguments in _SERVERS[name].calls:
            filled = {
                key: value.replace("FOLDER", str(folder / "files"))
                if isinstance(value, str)
                else value
                for key, value in arguments.items()
            }
            await client.call_tool(tool, filled)
    return [line.replace(str(folder), "FOLDER") for line in record.read_text().splitlines()]


@pytest.mark.parametrize(
    ("name", "mode"), [(name, mode) for name, server in _SERVERS.items() for mode in server.modes]
)
async def test_a_session_is_the_same(name: str, mode: str, tmp_path: Path) -> None:
    """Message by message, with everything enforced."""
    (tmp_path / "without").mkdir()
    (tmp_path / "with").mkdir()
    without = await record_session(name, mode, [], tmp_path / "without")
    through = await record_session(name, mode, _PROXY, tmp_path / "with")

    assert len(without) >= 2 + 2 * len(_SERVERS[name].calls)
    assert without == through
