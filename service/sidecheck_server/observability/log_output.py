"""Output of the log: standard error, which nothing in the process may wait for."""

import atexit
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from sidecheck_server.observability.log_writer import LogWriter

__all__ = ["LOG_FLUSH_SECONDS", "open_log_output"]

LOG_FLUSH_SECONDS = 0.4
"""Longest time that the end of the process waits for the log to be written."""


def open_log_output(report_dropped: Callable[[int], None]) -> LogWriter:
    """Return a writer to standard error, whose queue is flushed when the process exits.

    Direct writes to descriptor 2 do not wait for its reader either.
    """
    writer = LogWriter(os.dup(2), report_dropped)
    atexit.register(partial(writer.flush, LOG_FLUSH_SECONDS))
    _unblock_standard_error()
    return writer


def _unblock_standard_error() -> None:
    """Let writes to descriptor 2 fail instead of block if nobody reads it.

    gRPC, the interpreter and worker processes, which inherit the descriptor, write to it
    directly. The pipe is opened again, because `O_NONBLOCK` on the existing description would
    affect all processes that share it. Sockets, and pipes that cannot be opened again, for
    lack of permission or of /proc, remain unchanged.
    """
    if not (stat.S_ISFIFO(os.fstat(2).st_mode) or os.isatty(2)):
        return
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
        reopened = os.open("/proc/self/fd/2", flags)
        os.dup2(reopened, 2)
        os.close(reopened)
