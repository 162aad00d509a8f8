"""Output of the log: standard error, which nothing in the process may wait for."""

import atexit
import os
from collections.abc import Callable
from functools import partial

from sidecheck_server.observability.log_writer import LogWriter
from sidecheck_server.observability.operating_system import unblock_standard_error

__all__ = ["LOG_FLUSH_SECONDS", "open_log_output"]

LOG_FLUSH_SECONDS = 0.4
"""Longest time that the end of the process waits for the log to be written."""


def open_log_output(report_dropped: Callable[[int], None]) -> LogWriter:
    """Return a writer to standard error, whose queue is flushed when the process exits.

    Direct writes to descriptor 2 do not wait for its reader either.
    """
    writer = LogWriter(os.dup(2), report_dropped)
    atexit.register(partial(writer.flush, LOG_FLUSH_SECONDS))
    unblock_standard_error()
    return writer
