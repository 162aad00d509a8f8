"""How the shared cases are run with the client of each language."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from support.shared_material import REPOSITORY

__all__ = ["LANGUAGES", "Language"]

_CLIENTS = REPOSITORY / "clients"


@dataclass(frozen=True, slots=True)
class Language:
    """Commands of one language, which run in *folder*."""

    folder: Path
    #: What must be on PATH.
    programs: tuple[str, ...]
    #: Builds what the tests need.
    build: tuple[tuple[str, ...], ...]
    #: Runs all tests of the client, with the shared cases.
    test: tuple[str, ...]
    #: Starts the MCP server of the examples over stdio, after the build; None without one.
    example: tuple[str, ...] | None = None

    def missing_programs(self) -> list[str]:
        """Return the programs that are not on PATH."""
        return [program for program in self.programs if shutil.which(program) is None]

    def run(self, command: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, str]:
        """Run *command* and return its exit status and output."""
        run = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return run.returncode, run.stdout


def _python(kind: str) -> Language:
    module = (sys.executable, "-m", "conformance.python_client", kind)
    example = (sys.executable, str(_CLIENTS / "python" / "examples" / "weather.py"))
    return Language(REPOSITORY / "tests", (), (), module, example if kind == "asyncio" else None)


#: Clients by name, in the order of the columns of the matrix.
LANGUAGES: Mapping[str, Language] = {
    "Python": _python("asyncio"),
    "Python, blocking": _python("blocking"),
}
