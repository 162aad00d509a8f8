"""Published MCP servers, and sessions of clients with them.

The sessions are data, `tests/cases/proxy/published_servers.json`, so that clients in several
languages have the same. FOLDER in them stands for a folder of the test.
"""

import fcntl
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.shared_material import REPOSITORY, unavailable

__all__ = ["NODE", "SERVERS", "Published", "install_node_packages", "prepare"]

NODE = REPOSITORY / "tests" / "proxy" / "servers"
"""Folder of the servers, and of the client, that run in Node."""

_PYTHON = REPOSITORY / ".venv-demo" / "bin"
_CASES = REPOSITORY / "tests" / "cases" / "proxy" / "published_servers.json"
_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Published:
    """A server, and requests with deterministic responses."""

    command: list[str]
    #: Start of a session over stdio: ``legacy`` for `initialize`, or a version without a
    #: handshake; empty if the server listens on HTTP.
    modes: list[str]
    #: Requests by ``method`` and ``params``; ``notification`` is awaited after the response.
    operations: list[dict[str, Any]]

    def installed(self) -> list[str]:
        """Return the command with the path of its program; install the program if necessary."""
        program, *arguments = self.command
        if (_PYTHON / program).exists():
            return [str(_PYTHON / program), *arguments]
        install_node_packages()
        path = NODE / "node_modules" / ".bin" / program
        if not path.exists():
            unavailable(f"no {program} in {_PYTHON}: `make demo` installs it")
        return [str(path), *arguments]


SERVERS = {name: Published(**case) for name, case in json.loads(_CASES.read_text()).items()}


def install_node_packages() -> None:
    """Install what `tests/proxy/servers/package.json` names, once for all test processes."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        unavailable("no Node with npm on PATH, which some servers and a client run in")
    with (NODE / "package-lock.json").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        installed = NODE / "node_modules" / ".package-lock.json"
        if installed.exists() and installed.stat().st_mtime >= os.fstat(lock.fileno()).st_mtime:
            return
        words = ["npm", "ci", "--no-audit", "--no-fund"]
        subprocess.run(words, cwd=NODE, check=True, timeout=_SECONDS)


def prepare(folder: Path) -> None:
    """Make *folder* a git repository with a file and a reproducible commit."""
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("notes\n")
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    date = "2026-01-01T00:00:00Z"
    fixed = {**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*settings, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=folder, check=True, env=fixed)
