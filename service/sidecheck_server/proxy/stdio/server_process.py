"""The MCP server that the proxy starts."""

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from sidecheck_server.proxy.stdio.batch_files import UnsafeArgumentError
from sidecheck_server.proxy.stdio.operating_system import (
    GROUP_OPTIONS,
    kill_group,
    resolve_command,
    signal_group,
)
from sidecheck_server.proxy.stdio.pipes import DescriptorReader, DescriptorWriter

__all__ = ["ServerNotStartedError", "ServerProcess", "start_server"]


_END_SECONDS = 5.0
"""Maximum seconds for the server to end after each signal."""

_OWN_VARIABLES = frozenset({"SIDECHECK_TOKEN", "SIDECHECK_UPSTREAM_TOKEN"})
"""Environment variables with secrets of the proxy, which the server must not get."""


class ServerNotStartedError(Exception):
    """The command of the server cannot be run; the text of the error has the reason."""


class ServerProcess:
    """A running server; implements `ServerEndpoint`.

    A process that ends successfully before any output is taken to be a launcher, whose child serves
    in its place: then the server ends with its output.
    """

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
        self._watching: asyncio.Task[None] | None = None
        # A thread, because `asyncio.subprocess` reports the end of a process only after its
        # output has ended, which child processes of the server may hold.
        threading.Thread(target=self._wait, args=(loop,), name="server", daemon=True).start()

    async def wait(self) -> int:
        """Return the exit code, as soon as the server has ended; negative for a signal."""
        return await asyncio.shield(self._ended)

    def send_signal(self, number: int) -> None:
        """Send the signal *number* to the process group, unless the server has ended.

        A server that its launcher has left outside the group gets the end of its input instead.
        """
        if not self._ended.done() and not signal_group(self._process.pid, number):
            self._end_watching()

    async def end(self) -> None:
        """End the server: by SIGTERM, and after five seconds by force."""
        for end_group in (partial(signal_group, number=signal.SIGTERM), kill_group):
            if not self._ended.done():
                end_group(self._process.pid)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.wait(), _END_SECONDS)
                return
        self._end_watching()

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        code = self._process.wait()
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._note_exit, code)

    def _note_exit(self, code: int) -> None:
        if code == 0 and not self.reader.has_read:
            self._watching = asyncio.create_task(self._watch_output())
        else:
            self._ended.set_result(code)

    async def _watch_output(self) -> None:
        await self.reader.ended.wait()
        self._end_watching()

    def _end_watching(self) -> None:
        """Take the server of a launcher as ended."""
        if self._watching is not None and not self._ended.done():
            self._ended.set_result(0)


async def start_server(
    command: Sequence[str], stderr: int, *, has_threads: bool = False
) -> ServerProcess:
    """Start the MCP server *command*, whose standard error is the descriptor *stderr*.

    The server has the environment of the proxy, without the token, and its own process group, so
    that a signal of the terminal arrives once, through the proxy. On Linux, the server ends with
    the proxy, even if a client kills the proxy; but not if this process *has_threads*, since no
    function can run safely between fork and exec then. It sees the end of its input.

    Raises:
        ServerNotStartedError: there is no such program, or it cannot be run.
    """
    try:
        resolved = resolve_command(command)
        # It returns as soon as the program runs.
        process = subprocess.Popen(  # noqa: ASYNC220, S603
            resolved,
            shell=isinstance(resolved, str),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            env={name: text for name, text in os.environ.items() if name not in _OWN_VARIABLES},
            **{**GROUP_OPTIONS, **({"preexec_fn": None} if has_threads else {})},
        )
    except OSError as error:
        raise ServerNotStartedError(f"{command[0]}: {error.strerror}") from None
    except UnsafeArgumentError as error:
        raise ServerNotStartedError(str(error)) from None
    return ServerProcess(process)
