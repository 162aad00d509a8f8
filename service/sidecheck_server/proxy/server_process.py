"""The MCP server that the proxy starts."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence

__all__ = ["ServerNotStartedError", "start_server"]


class ServerNotStartedError(Exception):
    """The command of the server cannot be run; the text says why."""


async def start_server(command: Sequence[str], stderr: int) -> Process:
    """Start the MCP server *command*, whose standard error is the descriptor *stderr*.

    It has a process group of its own: a signal of the terminal arrives once, through the proxy.

    Raises:
        ServerNotStartedError: there is no such program, or it cannot be run.
    """
    try:
        return await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=stderr, process_group=0
        )
    except OSError as error:
        raise ServerNotStartedError(f"{command[0]}: {error.strerror}") from None
