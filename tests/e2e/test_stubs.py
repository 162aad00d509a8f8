"""Generated Go and TypeScript stubs with a running server.

Each language has a smoke program, which makes the same three calls and opens the same
stream. Its output, a line of JSON for each response, is asserted.
"""

import asyncio
import shutil
import subprocess
from pathlib import Path
from typing import Protocol

import pytest
from support.shared_material import REPOSITORY, unavailable

GO = REPOSITORY / "clients" / "go"
TYPESCRIPT = REPOSITORY / "clients" / "typescript"

LINES = """\
{"valid":true,"codes":[]}
{"valid":false,"codes":["REQUIRED"]}
{"error":"UNSUPPORTED_DIALECT","status":"INVALID_ARGUMENT"}
{"id":"0","valid":true}
{"id":"1","valid":false}
"""


class RunningServer(Protocol):
    """A server that a program can call."""

    address: str


def build(folder: Path, *command: str) -> None:
    """Run a build command in *folder*; fail the test with its output on errors."""
    build_run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if build_run.returncode != 0:
        pytest.fail(f"{' '.join(command)} failed:\n{build_run.stdout}{build_run.stderr}")


def require(*programs: str) -> None:
    """Skip the test if one of *programs* is not installed."""
    for program in programs:
        if shutil.which(program) is None:
            unavailable(f"{program} is not on PATH")


@pytest.fixture(scope="module")
def go_smoke(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build the Go smoke program."""
    require("go")
    program = tmp_path_factory.mktemp("go") / "smoke"
    build(GO, "go", "build", "-o", str(program), "./cmd/smoke")
    return [str(program)]


@pytest.fixture(scope="module")
def typescript_smoke() -> list[str]:
    """Build the TypeScript smoke program; install its packages if the lock file is newer.

    The build stays in the folder of the package, since Node searches packages upwards from
    the importing file.
    """
    require("node", "npm")
    lock = TYPESCRIPT / "package-lock.json"
    installed = TYPESCRIPT / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime <= lock.stat().st_mtime:
        build(TYPESCRIPT, "npm", "ci", "--no-audit", "--no-fund")
    build(TYPESCRIPT, "npm", "run", "build")
    return ["node", str(TYPESCRIPT / "dist" / "smoke.js")]


async def call(smoke: list[str], server: RunningServer) -> tuple[int | None, str, str]:
    """Run a smoke program against *server* and return its exit status, stdout and stderr.

    The event loop is not blocked, since the server may run on it.
    """
    process = await asyncio.create_subprocess_exec(
        *smoke,
        server.address,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, messages = await asyncio.wait_for(process.communicate(), timeout=300)
    return process.returncode, output.decode(), messages.decode()


async def test_go_stubs_get_verdicts_and_errors(go_smoke: list[str], server: RunningServer) -> None:
    """The output of the Go program is that of every client."""
    expected = (0, LINES, "")
    assert expected == await call(go_smoke, server)


async def test_typescript_stubs_get_verdicts_and_errors(
    typescript_smoke: list[str], server: RunningServer
) -> None:
    """The output of the TypeScript program is that of every client."""
    expected = (0, LINES, "")
    assert expected == await call(typescript_smoke, server)
