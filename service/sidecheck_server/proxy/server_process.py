"""The MCP server that the proxy starts."""

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

from sidecheck_server.proxy.pipes import DescriptorReader, DescriptorWriter

__all__ = ["ServerNotStartedError", "ServerProcess", "start_server"]


_PR_SET_PDEATHSIG = 1
"""From ``linux/prctl.h``."""

_END_SECONDS = 5.0
"""Maximum seconds for the server to end after each signal."""

_OWN_VARIABLES = frozenset({"SIDECHECK_TOKEN"})
"""Environment variables with secrets of the proxy, which the server must not get."""

# Loaded at import, because code between fork and exec must not import anything.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class ServerNotStartedError(Exception):
    """The command of the server cannot be run; the text of the error has the reason."""


class ServerProcess:
    """A running server; implements `ServerEndpoint`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        # Copies, because the writer closes its descriptor.
        self.reader = DescriptorReader(os.dup(process.stdout.fileno()))
        self.writer = DescriptorWriter(os.dup(process.stdin.fileno()))
        process.stdout.close()
        process.stdin.close()
        loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = loop.create_future()
        # A thread, because `asyncio.subprocess` reports the end of a process only after its
        # output has ended, which child processes of the server may hold.
        threading.Thread(target=self._wait, args=(loop,), name="server", daemon=True).start()

    async def wait(self) -> int:
        """Return the exit code, as soon as the server has ended; negative for a signal."""
        return await asyncio.shield(self._ended)

    def send_signal(self, number: int) -> None:
        """Send the signal *number* to the process group, unless the server has ended."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    async def end(self) -> None:
        """End the server: by SIGTERM, and after five seconds by SIGKILL."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.send_signal(number)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.wait(), _END_SECONDS)
                return

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        code = self._process.wait()
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._ended.set_result, code)


async def start_server(command: Sequence[str], stderr: int) -> ServerProcess:
    """Start the MCP server *command*, whose standard error is the descriptor *stderr*.

    The server has the environment of the proxy, without the token, and its own process group, so
    that a signal of the terminal arrives once, through the proxy. The server ends with the proxy,
    even if a client kills the proxy.

    Raises:
        ServerNotStartedError: there is no such program, or it cannot be run.
    """
    try:
        # It returns as soon as the program runs.
        process = subprocess.Popen(  # noqa: ASYNC220, S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            env={name: text for name, text in os.environ.items() if name not in _OWN_VARIABLES},
            process_group=0,
            # Only this thread runs yet, and the function calls nothing of Python.
            preexec_fn=None if _libc is None else _die_with_proxy,  # noqa: PLW1509
        )
    except OSError as error:
        raise ServerNotStartedError(f"{command[0]}: {error.strerror}") from None
    return ServerProcess(process)


def _die_with_proxy() -> None:
    """Make the kernel kill this process, the server, when its parent ends."""
    assert _libc is not None
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
