"""The standard descriptors of the process: which of them are open, and which may block."""

import os
import stat
from contextlib import suppress

__all__ = ["open_missing_descriptors", "unblock_standard_error"]


def open_missing_descriptors() -> None:
    """Open the null device on those of the descriptors 0 to 2 that are closed.

    The next file or socket would take the number otherwise, and receive what the process
    and its libraries write to standard error.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is this one.
            os.open(os.devnull, os.O_RDWR)


def unblock_standard_error() -> None:
    """Make writing to descriptor 2 fail rather than block if nobody reads its pipe or terminal.

    gRPC, the interpreter and worker processes, which inherit the descriptor, write to it
    directly. The pipe is opened once more, because `O_NONBLOCK` on the descriptor itself
    would hold for all processes that share it. A pipe that cannot be opened again, for
    lack of rights or of /proc, stays as it is, as does a socket.
    """
    if not (stat.S_ISFIFO(os.fstat(2).st_mode) or os.isatty(2)):
        return
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
        reopened = os.open("/proc/self/fd/2", flags)
        os.dup2(reopened, 2)
        os.close(reopened)
