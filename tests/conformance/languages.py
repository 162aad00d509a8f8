"""Commands that build and run the clients of all languages."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from support.shared_material import REPOSITORY

__all__ = ["LANGUAGES", "CommandFailed", "Language"]

_OUTPUT_CHARACTERS = 8_000

_SECONDS = 900
"""For a command that hangs, for example on a download that stalls."""

# As proto/generate.sh, which may have installed the packages of the same lock file.
_NPM_CI = (
    "sh",
    "-c",
    "test node_modules/.package-lock.json -nt package-lock.json || npm ci --no-audit --no-fund",
)

_CLIENTS = REPOSITORY / "clients"
_BUILD = REPOSITORY / "build"


@dataclass(frozen=True, slots=True)
class Language:
    """Commands of one language, which run in *folder*."""

    folder: Path
    #: What must be on PATH.
    programs: tuple[str, ...]
    #: The command that builds the tests.
    build: tuple[tuple[str, ...], ...]
    #: Runs all tests of the client, with the shared cases.
    test: tuple[str, ...]
    #: Starts the MCP server of the examples over stdio, after the build; None without one.
    example: tuple[str, ...] | None = None

    def missing_programs(self) -> list[str]:
        """Return the programs that are not on PATH."""
        return [program for program in self.programs if shutil.which(program) is None]

    def make(self) -> None:
        """Build what the tests and the example need, once for each run of the tests.

        Processes of one run wait for each other, and none builds anew what another uses.

        Raises:
            CommandFailed: A command failed.
        """
        folder = REPOSITORY / "build" / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        run_id = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
        with (folder / self.folder.name).open("a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.seek(0)
            if lock.read() == run_id:
                return
            for command in self.build:
                self.run(command, os.environ)
            lock.truncate(0)
            lock.write(run_id)

    def run(self, command: tuple[str, ...], environment: Mapping[str, str]) -> None:
        """Run *command* in the folder of the client.

        Raises:
            CommandFailed: Its exit status is not 0, or it does not end.
        """
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=_SECONDS)
        except BaseException as failure:
            # With its children, which would hold the pipe open.
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            if not isinstance(failure, subprocess.TimeoutExpired):
                raise
            ended = f"did not end within {_SECONDS:,} s"
        else:
            if process.returncode == 0:
                return
            ended = f"exited with {process.returncode}"
        raise CommandFailed(f"{' '.join(command)} {ended}:\n{output[-_OUTPUT_CHARACTERS:]}")


class CommandFailed(Exception):
    """A command failed or did not end; the text has the end of its output."""


def _python(kind: str) -> Language:
    module = (sys.executable, "-m", "conformance.python_client", kind)
    example = (sys.executable, str(_CLIENTS / "python" / "examples" / "weather.py"))
    return Language(REPOSITORY / "tests", (), (), module, example if kind == "asyncio" else None)


#: Clients by name, in the order of the columns of the matrix.
LANGUAGES: Mapping[str, Language] = {
    "Python": _python("asyncio"),
    "Python, blocking": _python("blocking"),
    "Go": Language(
        _CLIENTS / "go",
        ("go",),
        (
            ("go", "vet", "./..."),
            ("go", "build", "-o", str(_BUILD / "weather-go"), "./examples/weather"),
        ),
        ("go", "test", "-count=1", "./..."),
        (str(_BUILD / "weather-go"),),
    ),
    "TypeScript": Language(
        _CLIENTS / "typescript",
        ("node", "npm"),
        (
            _NPM_CI,
            ("npm", "run", "build"),
            ("npm", "run", "lint"),
        ),
        ("npm", "test"),
        ("node", "build/examples/weather.js"),
    ),
    "Java": Language(
        _CLIENTS / "java",
        ("java", "mvn"),
        (("mvn", "-B", "-q", "package", "-DskipTests"),),
        ("mvn", "-B", "-q", "test", "-pl", "sidecheck"),
        (
            "java",
            "-cp",
            "examples/weather/target/classes:examples/weather/target/lib/*",
            "WeatherServer",
        ),
    ),
    "Rust": Language(
        _CLIENTS / "rust",
        ("cargo",),
        (
            (
                "cargo",
                "clippy",
                "--locked",
                "--all-targets",
                "--all-features",
                "--",
                "-D",
                "warnings",
            ),
            ("cargo", "build", "--locked", "--all-features", "--example", "weather"),
        ),
        ("cargo", "test", "--locked", "--all-features"),
        ("target/debug/examples/weather",),
    ),
}
