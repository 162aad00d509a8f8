"""Installs and runs the releases of the suite, and reads their results."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from support.shared_material import REPOSITORY

__all__ = ["SUITES", "Check", "Results", "Suite", "SuiteFailed", "install", "run_suite"]

_PACKAGE = REPOSITORY / "tests" / "mcp_conformance" / "npm"
_INSTALLED = REPOSITORY / "build" / "mcp-conformance"
_SECONDS = 600
"""For an installation or a run that hangs, for example on a download that stalls."""

_OUTPUT_CHARACTERS = 2_000
_FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
"""Where the suite writes the checks of a scenario, with the time."""

Check: TypeAlias = tuple[str, str, str]
"""Id, name and status of one check."""

Results: TypeAlias = Mapping[str, Sequence[Check]]
"""The sorted checks of each scenario; their order depends on how fast responses come."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A release of the suite, and which of its scenarios to run."""

    #: Folder in node_modules.
    package: str
    #: Choose the scenarios of a whole run.
    choice: tuple[str, ...]
    #: Are added to the name of a scenario that is run by itself.
    single: tuple[str, ...] = ()


#: By revision and release.
SUITES = {
    "2025-11-25, suite 0.1.16": Suite("conformance-0.1", ("--suite", "all")),
    "2025-11-25, suite 0.2.0-alpha.12": Suite(
        "conformance-0.2",
        ("--requirements", "2025-11-25"),
        ("--spec-version", "2025-11-25", "--force"),
    ),
    "2026-07-28, suite 0.2.0-alpha.12": Suite(
        "conformance-0.2",
        ("--requirements", "2026-07-28"),
        ("--spec-version", "2026-07-28", "--force"),
    ),
}


class SuiteFailed(Exception):
    """The suite could not be installed, or did not run to its end."""


def install() -> Path:
    """Install the suite from its lock file unless it is, and return the folder.

    Processes wait for each other. No script of a package is run.

    Raises:
        SuiteFailed: npm is absent, or fails.
    """
    if shutil.which("npm") is None:
        raise SuiteFailed("no npm on PATH")
    _INSTALLED.mkdir(parents=True, exist_ok=True)
    lock_text = (_PACKAGE / "package-lock.json").read_text()
    with (_INSTALLED / ".made").open("a+") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        lock_file.seek(0)
        if lock_file.read() == lock_text:
            return _INSTALLED
        lock_file.truncate(0)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_PACKAGE / name, _INSTALLED)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        if status := _run(command, _INSTALLED, _INSTALLED / "npm.log"):
            raise SuiteFailed(f"npm ci exited with {status}:\n{_end_of(_INSTALLED / 'npm.log')}")
        lock_file.write(lock_text)
    return _INSTALLED


def run_suite(suite: Suite, url: str, folder: Path, scenario: str = "") -> Results:
    """Return the results of *suite* against the server at *url*; they are left in *folder*.

    All scenarios are run, or one.

    Raises:
        SuiteFailed: it did not run to its end.
    """
    modules = install() / "node_modules"
    own_node = modules / ".bin" / "node"
    # Without a package of Node for this platform, that on PATH has to do.
    node = str(own_node) if own_node.exists() else "node"
    program = modules / suite.package / "dist" / "index.js"
    options = ("--scenario", scenario, *suite.single) if scenario else suite.choice
    results, log = folder / "results", folder / "suite.txt"
    # The caller evaluates the results, so a failed scenario's exit status is ignored.
    _run([node, str(program), "server", "--url", url, *options, "-o", str(results)], folder, log)
    read = {
        match[1]: _read_checks(path / "checks.json")
        for path in (results.iterdir() if results.exists() else ())
        if (match := _FOLDER.fullmatch(path.name))
    }
    if not read:
        raise SuiteFailed(f"{suite.package} has no results:\n{_end_of(log)}")
    return read


def _read_checks(path: Path) -> Sequence[Check]:
    checks = json.loads(path.read_text())
    return sorted((check["id"], check["name"], check["status"]) for check in checks)


def _run(command: Sequence[str], folder: Path, log: Path) -> int:
    """Run *command* in *folder*, and return its exit status.

    Raises:
        SuiteFailed: it does not end.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            raise SuiteFailed(f"{command[0]} did not end within {_SECONDS:,} s") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _end_of(log: Path) -> str:
    """Return the last lines of *log*; the suite is one line of code, which errors show."""
    lines = (line[:200] for line in log.read_text(errors="replace").splitlines())
    return "\n".join(lines)[-_OUTPUT_CHARACTERS:]
