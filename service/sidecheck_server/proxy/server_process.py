"""The MCP server that the proxy starts."""

import asyncio
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sidecheck_server.proxy import operating_system
from sidecheck_server.proxy.batch_files import UnsafeArgumentError
from sidecheck_server.proxy.operating_system import GROUP_OPTIONS, resolve_command

__all__ = ["ServerNotStartedError", "kill_server", "signal_group", "start_server"]


_KILL_SECONDS = 5.0

_OWN_VARIABLES = frozenset({"SIDECHECK_TOKEN"})
"""Environment variables with secrets of the proxy, which the server must not get."""


class ServerNotStartedError(Exception):
    """The command of the server cannot be run; the text of the error has the reason."""


async def start_server(command: Sequence[str], stderr: int) -> Process:
    """Start the MCP server *command*, whose standard error is the descriptor *stderr*.

    The server has the environment of the proxy, without the token, and its own process group, so
    that a signal of the terminal arrives once, through the proxy. On Linux, the server ends with
    the proxy, even if a client kills the proxy.

    Raises:
        ServerNotStartedError: there is no such program, or it cannot be run.
    """
    options: dict[str, Any] = {
        **GROUP_OPTIONS,
        "stdin": PIPE,
        "stdout": PIPE,
        "stderr": stderr,
        "env": {name: text for name, text in os.environ.items() if name not in _OWN_VARIABLES},
    }
    try:
        resolved = resolve_command(command)
        if isinstance(resolved, str):
            return await asyncio.create_subprocess_shell(resolved, **options)
        return await asyncio.create_subprocess_exec(*resolved, **options)
    except OSError as error:
        raise ServerNotStartedError(f"{command[0]}: {error.strerror}") from None
    except UnsafeArgumentError as error:
        raise ServerNotStartedError(str(error)) from None


def signal_group(server: Process, number: int) -> None:
    """Send the signal *number* to the process group of *server*, unless it has ended."""
    if server.returncode is None:
        operating_system.signal_group(server.pid, number)


async def kill_server(server: Process) -> None:
    """Kill the process group of *server*, unless it has ended, and wait for its end."""
    if server.returncode is None:
        operating_system.kill_group(server.pid)
        with suppress(TimeoutError):
            # asyncio reports the end of a process only after its output is read.
            await asyncio.wait_for(server.communicate(), _KILL_SECONDS)
