"""Files that are named on the command line, and standard input and output."""

import errno
import os
import sys
from pathlib import Path

import click

__all__ = ["read_input", "write_file", "write_output"]


def read_input(name: str) -> bytes:
    """Return the content of the file *name*, or of standard input for ``-``.

    Raises:
        click.UsageError: the file cannot be read; the command exits with 2.
    """
    try:
        if name != "-":
            return Path(name).read_bytes()
        if sys.stdin is None:
            raise click.UsageError("cannot read standard input: it is closed")
        return sys.stdin.buffer.read()
    except OSError as error:
        raise click.UsageError(f"cannot read {name}: {error.strerror}") from None


def write_output(text: str, *, aside: bool = False) -> None:
    """Write *text* to standard output, with escapes for what its encoding lacks.

    What is said *aside* goes to standard error.

    Raises:
        click.UsageError: it cannot be written; the command exits with 2.
    """
    stream = sys.stderr if aside else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=aside)
    except OSError as error:
        if error.errno == errno.EPIPE:  # who read it wants no more; click knows
            raise
        # The stream keeps what it cannot write, and would fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise click.UsageError(f"cannot write the result: {error.strerror}") from None


def write_file(name: str, text: str) -> None:
    """Write *text* and the end of a line to the file *name*, in place of what it has.

    Raises:
        click.UsageError: it cannot be written; the command exits with 2.
    """
    try:
        Path(name).write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise click.UsageError(f"cannot write {name}: {error.strerror}") from None
