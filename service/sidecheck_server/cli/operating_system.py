"""Standard streams, signals and missing parts of the commands, by operating system."""

import os
import signal
import sys

__all__ = ["END_SIGNALS", "HAS_SERVICE", "HAS_UNIX_SOCKETS", "keep_owner", "prepare_streams"]

if sys.platform == "win32":
    from io import TextIOWrapper

    END_SIGNALS = (signal.SIGTERM, signal.SIGBREAK)
    """Signals at which a command cleans up and exits."""

    HAS_SERVICE = False
    """Whether `sidecheck serve` runs."""

    HAS_UNIX_SOCKETS = False
    """Whether gRPC connects to unix sockets."""

    def prepare_streams() -> None:
        """Write UTF-8 and plain line feeds, as JSON needs, in place of the code page and CRLF.

        PYTHONIOENCODING names another encoding.
        """
        encoding = None if os.environ.get("PYTHONIOENCODING") else "utf-8"
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # pythonw.exe has no streams
                stream.reconfigure(encoding=encoding, newline="\n")

    def keep_owner(path: str, status: os.stat_result) -> None:
        """Do nothing: a file belongs to whom its folder says."""

else:
    from contextlib import suppress

    END_SIGNALS = (signal.SIGTERM,)
    """Signals at which a command cleans up and exits."""

    HAS_SERVICE = True
    """Whether `sidecheck serve` runs."""

    HAS_UNIX_SOCKETS = True
    """Whether gRPC connects to unix sockets."""

    def prepare_streams() -> None:
        """Do nothing: the locale has the encoding, and lines end with a line feed."""

    def keep_owner(path: str, status: os.stat_result) -> None:
        """Give the file *path* to the owner in *status*, as only root can."""
        with suppress(OSError):
            os.chown(path, status.st_uid, status.st_gid)
