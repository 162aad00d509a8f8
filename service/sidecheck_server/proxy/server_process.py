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
"""Variables of the environment that are secrets of the proxy, and none of the server's."""

# Loaded here: nothing may be imported between fork and exec.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class ServerNotStartedError(Exception):
    """The command of the server cannot be run; the text says why."""


async def start_server(command: Sequence[str], stderr: int) -> Process:
    """Start the MCP server *command*, whose standard error is the descriptor *stderr*.

    It has the environment of the proxy, without the token, and a process group of its own: a
    signal of the terminal arrives once, through the proxy. Clients that kill a server which
    does not end kill the proxy, and with it the server.

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
    """Send the signal *number* to *server* and what it has started, unless it has ended."""
    if server.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(server.pid, number)


async def kill_server(server: Process) -> None:
    """Kill *server* and what it has started, unless it has ended, and wait until it has."""
    if server.returncode is None:
        signal_group(server, signal.SIGKILL)
        with suppress(TimeoutError):
            # Its end is only noticed when its output is read.
            await asyncio.wait_for(server.communicate(), _KILL_SECONDS)


def _die_with_proxy() -> None:
    """Have the kernel kill this process, the server, when its parent ends in any way."""
    assert _libc is not None
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
