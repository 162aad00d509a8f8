"""Entry point of `sidecheck` and `python -m sidecheck_server`."""

import os
import signal
import sys
from types import FrameType

from sidecheck_server.cli import sidecheck

__all__ = ["main"]


def main() -> None:
    """Run the command-line interface."""
    _open_missing_descriptors()
    # gRPC writes lines of its own to standard error, which are no events. It reads this
    # when it is imported, by a command.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Shells and CI systems start background jobs with SIGINT ignored. `serve` replaces both.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _exit)
    sidecheck(prog_name="sidecheck")


def _open_missing_descriptors() -> None:
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


def _exit(number: int, _frame: FrameType | None) -> None:
    # An exception, so that workers and temporary files are cleaned up on the way out.
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
