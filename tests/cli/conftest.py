"""Fixtures for tests of the command line."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from typing import TypeAlias

import pytest

Terminal: TypeAlias = Callable[..., tuple[int, str]]


@pytest.fixture
def on_terminal() -> Terminal:
    """Run the command on a terminal; return its exit code and all that the terminal gets."""

    def run(*words: str, columns: int = 80, **environment: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in ("COLUMNS", "FORCE_COLOR", "NO_COLOR")
        }
        started = subprocess.Popen(
            [sys.executable, "-m", "sidecheck_server", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**inherited, "TERM": "xterm-256color", **environment},
        )
        os.close(theirs)
        output = b""
        while part := _read(ours):
            output += part
        os.close(ours)
        return started.wait(timeout=300), output.decode().replace("\r\n", "\n")

    return run


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other side is closed.
        return b""
