"""Input and output of commands: files and the standard streams."""

import errno
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn, TextIO

import click

from sidecheck_server.cli.findings import Finding, Source, find_violations
from sidecheck_server.cli.rows import printable
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool_name
from sidecheck_server.core.mcp.tool_lists import ListedTool, ToolsList, read_tools_list
from sidecheck_server.core.types import Violation

__all__ = [
    "list_named_or_exit",
    "list_or_exit",
    "list_or_find",
    "read_input",
    "write_bytes",
    "write_file",
    "write_output",
]


class _UnusableError(click.ClickException):
    """A file has no tools."""

    exit_code = 2


def list_or_find(source: Source, limits: Limits) -> ToolsList | list[Finding]:
    """Return the tools listed in *source*, or its violations if it lists none."""
    try:
        return read_tools_list(source.text, limits)
    except RequestError as error:
        violations = error.violations or (Violation("", "", "", error.reason.value, error.message),)
        return find_violations(source, violations)


def list_or_exit(name: str, text: bytes, limits: Limits) -> tuple[ListedTool, ...]:
    """Return the tools listed in *text*, the content of the file *name*.

    Raises:
        click.ClickException: it lists none; exit code 2.
    """
    listed = list_or_find(Source(name, text), limits)
    if isinstance(listed, ToolsList):
        return listed.tools
    place, violation = listed[0].place, listed[0].violation
    message = f"{name}:{place.line}:{place.column}: {violation.code}: {violation.message}"
    raise _UnusableError(printable(message))


def list_named_or_exit(name: str, text: bytes, limits: Limits) -> tuple[ListedTool, ...]:
    """Return the tools listed in *text*, of which one at least has a name, or none.

    Raises:
        click.ClickException: it lists none, or none has a name; exit code 2.
    """
    tools = list_or_exit(name, text, limits)
    if tools and not any(read_tool_name(tool.json, limits) for tool in tools):
        message = "nothing in it is a tool definition with a name"
        raise _UnusableError(printable(f"{name}: {message}"))
    return tools


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


def write_output(text: str, *, aside: bool = False) -> None:
    """Write *text* to standard output, or *aside* to standard error.

    Characters that the encoding of the stream lacks are escaped.

    Raises:
        click.UsageError: the stream cannot be written; exit code 2.
    """
    stream = sys.stderr if aside else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=aside)
    except OSError as error:
        _give_up(stream, error)


def write_bytes(parts: Iterable[bytes]) -> None:
    """Write *parts* to standard output, as they are.

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
        _give_up(stream, error)


def _give_up(stream: TextIO, error: OSError) -> NoReturn:
    """Write nothing more to *stream*, which failed with *error*, and raise."""
    if error.errno == errno.EPIPE:  # the reader is gone; click exits
        raise error
    # The stream buffers the unwritten text, and would fail again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    raise click.UsageError(f"cannot write the result: {error.strerror}") from None


def write_file(name: str, text: str) -> None:
    """Write *text* and a newline to the file *name*, replacing its content.

    Raises:
        click.UsageError: the file cannot be written; exit code 2.
    """
    try:
        Path(name).write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise click.UsageError(f"cannot write {name}: {error.strerror}") from None
