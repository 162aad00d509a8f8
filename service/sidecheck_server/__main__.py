"""Entry point of `sidecheck` and `python -m sidecheck_server`."""

import os
import signal
import sys
from types import FrameType

from sidecheck_server.cli import sidecheck
from sidecheck_server.cli.operating_system import END_SIGNALS, prepare_streams

__all__ = ["main"]


def main() -> None:
    """Run the command-line interface."""
    _open_missing_descriptors()
    prepare_streams()
    # gRPC writes lines to standard error that are not log events. Commands import it later,
    # and it reads this variable then.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Shells and CI systems start background jobs with SIGINT ignored. `serve` installs
    # handlers for both signals.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in END_SIGNALS:
        signal.signal(number, _exit)
    sidecheck(prog_name="sidecheck")


def _open_missing_descriptors() -> None:
    """Open the null device on each closed descriptor from 0 to 2.

    Otherwise the next file or socket would get the number, and with it the standard error
    output of the process and its libraries.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The system assigns the lowest free number, which is this one.
            os.open(os.devnull, os.O_RDWR)


def _exit(number: int, _frame: FrameType | None) -> None:
    # Raise an exception, so that workers and temporary files are cleaned up.
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
