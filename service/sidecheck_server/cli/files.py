"""Files that are named on the command line."""

import sys
from pathlib import Path

import click

__all__ = ["read_input"]


def read_input(name: str) -> bytes:
    """Return the content of the file *name*, or of standard input for ``-``.

    Raises:
        click.UsageError: the file cannot be read; the command exits with 2.
    """
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise click.UsageError(f"cannot read {name}: {error.strerror}") from None
