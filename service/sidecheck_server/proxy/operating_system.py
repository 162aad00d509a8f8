"""Start and end of a server process, and private files, by operating system."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

__all__ = ["kill_group", "open_privately", "signal_group", "start_group"]

if sys.platform == "win32":
    import shutil
    import subprocess

    from sidecheck_server.proxy.batch_files import batch_command_line, is_batch_file

    async def start_group(command: Sequence[str], **options: Any) -> Process:
        """Start *command* in a process group of its own, so that Ctrl-C does not reach it.

        Windows finds only programs by a bare name, so that npx would not start npx.cmd. The
        search is that of the command interpreter, by PATH and PATHEXT.

        Raises:
            OSError: there is no such program, or it cannot be run.
            UnsafeArgumentError: it is a batch file that does not get its arguments as they are.
        """
        program = shutil.which(command[0]) or command[0]
        options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
        if is_batch_file(program):
            line = batch_command_line([program, *command[1:]])
            return await asyncio.create_subprocess_shell(line, **options)
        return await asyncio.create_subprocess_exec(program, *command[1:], **options)

    def signal_group(server: Process, number: int) -> None:  # noqa: ARG001  (of the other system)
        """Send Ctrl-Break to the process group of *server*; it cannot get other signals.

        It is ended if it has no console in common with the proxy.
        """
        try:
            server.send_signal(signal.CTRL_BREAK_EVENT)
        except OSError:
            with suppress(OSError):
                server.terminate()

    def kill_group(server: Process) -> None:
        """End *server* at once. Processes that it started see the end of their input."""
        with suppress(OSError):
            server.kill()

    def open_privately(path: str, flags: int) -> int:
        """Open the file *path*, whose folder says who may read it."""
        return os.open(path, flags)

else:
    import ctypes

    _PR_SET_PDEATHSIG = 1
    """From ``linux/prctl.h``."""

    # Loaded at import, because code between fork and exec must not import anything.
    _libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    async def start_group(command: Sequence[str], **options: Any) -> Process:
        """Start *command* in a process group of its own, so that Ctrl-C does not reach it.

        On Linux, it ends with this process.

        Raises:
            OSError: there is no such program, or it cannot be run.
        """
        options["preexec_fn"] = None if _libc is None else _die_with_proxy
        return await asyncio.create_subprocess_exec(*command, process_group=0, **options)

    def signal_group(server: Process, number: int) -> None:
        """Send the signal *number* to the process group of *server*."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(server.pid, number)

    def kill_group(server: Process) -> None:
        """Kill the process group of *server*."""
        signal_group(server, signal.SIGKILL)

    def open_privately(path: str, flags: int) -> int:
        """Open the file *path* without waiting for a reader, for its owner only."""
        return os.open(path, flags | os.O_NONBLOCK, 0o600)

    def _die_with_proxy() -> None:
        """Make the kernel kill this process, the server, when its parent ends."""
        assert _libc is not None
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
