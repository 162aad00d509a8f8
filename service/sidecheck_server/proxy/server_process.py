"""The MCP server that the proxy starts."""

import asyncio
import ctypes
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress

__all__ = ["ServerNotStartedError", "kill_server", "signal_group", "start_server"]


_PR_SET_PDEATHSIG = 1
"""From ``linux/prctl.h``."""

_KILL_SECONDS = 5.0

_OWN_VARIABLES = frozenset({"SIDECHECK_TOKEN"})
"""Environment variables with secrets of the proxy, which the server must not get."""

# Loaded at import, because code between fork and exec must not import anything.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class ServerNotStartedError(Exception):
    """The command of the server cannot be run; the text of the error has the reason."""


async def start_server(command: Sequence[str], stderr: int) -> Process:
    """Start the MCP server *command*, whose standard error is the descriptor *stderr*.

    The server has the environment of the proxy, without the token, and its own process group, so
    that a signal of the terminal arrives once, through the proxy. The server ends with the proxy,
    even if a client kills the proxy.

    Raises:
        ServerNotStartedError: there is no such program, or it cannot be run.
    """
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=stderr,
            env={name: text for name, text in os.environ.items() if name not in _OWN_VARIABLES},
            process_group=0,
            preexec_fn=None if _libc is None else _die_with_proxy,
        )
    except OSError as error:
        raise ServerNotStartedError(f"{command[0]}: {error.strerror}") from None


def signal_group(server: Process, number: int) -> None:
    """Send the signal *number* to the process group of *server*, unless it has ended."""
    if server.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(server.pid, number)


async def kill_server(server: Process) -> None:
    """Kill the process group of *server*, unless it has ended, and wait for its end."""
    if server.returncode is None:
        signal_group(server, signal.SIGKILL)
        with suppress(TimeoutError):
            # asyncio reports the end of a process only after its output is read.
            await asyncio.wait_for(server.communicate(), _KILL_SECONDS)


def _die_with_proxy() -> None:
    """Make the kernel kill this process, the server, when its parent ends."""
    assert _libc is not None
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
