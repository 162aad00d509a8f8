"""Start and end of a server process, and private files, by operating system."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

__all__ = ["GROUP_OPTIONS", "kill_group", "open_privately", "resolve_command", "signal_group"]

if sys.platform == "win32":
    import shutil
    import subprocess

    from sidecheck_server.proxy.stdio.batch_files import batch_command_line, is_batch_file

    GROUP_OPTIONS: Mapping[str, Any] = MappingProxyType(
        {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    )
    """Options of a process in a group of its own, which Ctrl-C in a console does not reach."""

    def resolve_command(command: Sequence[str]) -> Sequence[str] | str:
        """Return the program and arguments of *command*, or the line for the shell to run.

        Windows finds only programs by a bare name, so that npx would not start npx.cmd. The
        search is that of the command interpreter, by PATH and PATHEXT.

        Raises:
            UnsafeArgumentError: it is a batch file that does not get its arguments as they are.
        """
        program = shutil.which(command[0]) or command[0]
        resolved = [program, *command[1:]]
        return batch_command_line(resolved) if is_batch_file(program) else resolved

    def signal_group(process_id: int, number: int) -> bool:  # noqa: ARG001  (of the other system)
        """Send Ctrl-Break to the group of a process, which cannot get other signals; return True.

        A process that has no console in common with this one ends at once.
        """
        try:
            os.kill(process_id, signal.CTRL_BREAK_EVENT)
        except OSError:
            kill_group(process_id)
        return True

    def kill_group(process_id: int) -> None:
        """End a process at once. Processes that it started see the end of their input."""
        with suppress(OSError):
            os.kill(process_id, signal.SIGTERM)

    def open_privately(path: str, flags: int) -> int:
        """Open the file *path*, whose folder says who may read it."""
        return os.open(path, flags)

else:
    import ctypes

    _PR_SET_PDEATHSIG = 1
    """From ``linux/prctl.h``."""

    # Loaded at import, because code between fork and exec must not import anything.
    _libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def _die_with_proxy() -> None:
        """Make the kernel kill this process, the server, when its parent ends."""
        assert _libc is not None
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    GROUP_OPTIONS: Mapping[str, Any] = MappingProxyType(
        {"process_group": 0, "preexec_fn": None if _libc is None else _die_with_proxy}
    )
    """Options of a process in a group of its own, which Ctrl-C in a terminal does not reach, and
    which ends with this process on Linux."""

    def resolve_command(command: Sequence[str]) -> Sequence[str] | str:
        """Return *command*: the system finds the program, and passes on the arguments."""
        return command

    def signal_group(process_id: int, number: int) -> bool:
        """Send the signal *number* to the group of a process; return whether there is one."""
        try:
            os.killpg(process_id, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def kill_group(process_id: int) -> None:
        """Kill the group of a process."""
        signal_group(process_id, signal.SIGKILL)

    def open_privately(path: str, flags: int) -> int:
        """Open the file *path* without waiting for a reader, for its owner only."""
        return os.open(path, flags | os.O_NONBLOCK, 0o600)
