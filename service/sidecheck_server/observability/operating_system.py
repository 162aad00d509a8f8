"""Standard error as a descriptor that never blocks, by operating system."""

import sys

__all__ = ["ATOMIC_BYTES", "unblock_standard_error", "wait_until_writable"]

if sys.platform == "win32":
    import time

    ATOMIC_BYTES = 4096
    """Most bytes to write at once. Windows names no size of an atomic write."""

    _PAUSE_SECONDS = 0.01

    def wait_until_writable(descriptor: int) -> None:  # noqa: ARG001  (of the other system)
        """Wait a moment: Windows cannot wait for a pipe."""
        time.sleep(_PAUSE_SECONDS)

    def unblock_standard_error() -> None:
        """Do nothing: only the thread of the log waits for a reader."""

else:
    import os
    import select
    import stat
    from contextlib import suppress

    ATOMIC_BYTES = select.PIPE_BUF
    """Most bytes to write at once: longer writes to a pipe are not atomic (pipe(7))."""

    def wait_until_writable(descriptor: int) -> None:
        """Wait until the pipe *descriptor*, whose creator set `O_NONBLOCK`, has space."""
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        poll.poll()

    def unblock_standard_error() -> None:
        """Let writes to descriptor 2 fail instead of block if nobody reads it.

        gRPC, the interpreter and worker processes, which inherit the descriptor, write to it
        directly. The pipe is opened again, because `O_NONBLOCK` on the existing description
        would affect all processes that share it. Sockets, and pipes that cannot be opened
        again, for lack of permission or of /proc, remain unchanged.
        """
        if not (stat.S_ISFIFO(os.fstat(2).st_mode) or os.isatty(2)):
            return
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
            reopened = os.open("/proc/self/fd/2", flags)
            os.dup2(reopened, 2)
            os.close(reopened)
