"""Input and output of commands: files and the standard streams."""

import errno
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn, TextIO

import click

__all__ = ["read_input", "write_bytes", "write_file", "write_output"]


def read_input(name: str) -> bytes:
    """Return the content of the file *name*, or of standard input for ``-``.

    Raises:
        click.UsageError: the file cannot be read; exit code 2.
    """
    try:
        if name != "-":
            return Path(name).read_bytes()
        if sys.stdin is None:
            raise click.UsageError("cannot read standard input: it is closed")
        return sys.stdin.buffer.read()
    except OSError as error:
        raise click.UsageError(f"cannot read {name}: {error.strerror}") from None


def write_output(text: str, *, to_stderr: bool = False) -> None:
    """Write *text* to standard output, or *to_stderr* to standard error.

    Characters that the encoding of the stream lacks are escaped.

    Raises:
        click.UsageError: the stream cannot be written; exit code 2.
    """
    stream = sys.stderr if to_stderr else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=to_stderr)
    except OSError as error:
        _abandon_stream(stream, error)


def write_bytes(parts: Iterable[bytes]) -> None:
    """Write the bytes *parts* to standard output.

    Raises:
        click.UsageError: the stream cannot be written; exit code 2.
    """
    stream = sys.stdout
    if stream is None:
        raise click.UsageError("cannot write the result: standard output is closed")
    try:
        for part in parts:
            stream.buffer.write(part)
        stream.buffer.flush()
    except OSError as error:
        _abandon_stream(stream, error)


def _abandon_stream(stream: TextIO, error: OSError) -> NoReturn:
    """Redirect *stream*, which failed with *error*, to the null device, and raise."""
    if error.errno == errno.EPIPE:  # the reader is gone; click exits
        raise error
    # The stream still buffers the text, and the flush at exit would fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    raise click.UsageError(f"cannot write the result: {error.strerror}") from None


def write_file(name: str, text: str) -> None:
    """Write *text* and a newline to the file *name*, replacing its content.

    Raises:
        click.UsageError: the file cannot be written; exit code 2.
    """
    try:
        Path(name).write_text(f"{text}\n", "utf-8", newline="\n")
    except OSError as error:
        raise click.UsageError(f"cannot write {name}: {error.strerror}") from None
