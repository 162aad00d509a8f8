"""Runs Python programs whose parts of Sidecheck take the system for Windows."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["environment", "run"]

_SUPPORT = Path(__file__).parent
_SECONDS = 300


def environment() -> dict[str, str]:
    """Return the variables of a process that has `windows/sitecustomize.py`."""
    path = [str(_SUPPORT / "windows"), os.environ.get("PYTHONPATH", ""), str(_SUPPORT.parent)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


def run(
    arguments: Sequence[str], folder: Path, *, on_windows: bool = True, text: bytes = b""
) -> tuple[int, bytes, bytes]:
    """Return exit code, output and standard error of Python with *arguments* and the input *text*.

    It runs in *folder*.
    """
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        env=environment() if on_windows else None,
        timeout=_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
