"""Options shared by several commands."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.operating_system import HAS_UNIX_SOCKETS
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.types import Document

__all__ = [
    "FILE",
    "document_option",
    "excerpts_option",
    "form_option",
    "format_examples",
    "min_severity_option",
    "read_documents",
    "target_option",
    "timeout_option",
    "version_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])

#: Path of a file, or - for standard input.
FILE = click.Path(allow_dash=True)

_DEFAULT_TARGET = "127.0.0.1:50151"


def document_option(command: Command) -> Command:
    """Add the option ``--document`` to *command*."""
    return click.option(
        "--document",
        "documents",
        type=(str, FILE),
        multiple=True,
        metavar="URI FILE",
        help="Document that a schema refers to. May be repeated.",
    )(command)


def read_documents(documents: tuple[tuple[str, str], ...]) -> tuple[Document, ...]:
    """Return the documents of ``--document``.

    Raises:
        click.UsageError: a file cannot be read.
    """
    return tuple(Document(uri, read_input(file)) for uri, file in documents)


def format_examples(*commands: str) -> str:
    """Return the epilog of a command's help with example *commands*."""
    # The backspace character prevents click from wrapping the following lines.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


def excerpts_option(command: Command) -> Command:
    """Add the option ``--excerpts`` to *command*."""
    return click.option(
        "--excerpts/--no-excerpts",
        default=None,
        help="Show each violation in its source line.  [default: on a terminal]",
    )(command)


def form_option(command: Command) -> Command:
    """Add the option ``--format``, text or JSON, to *command*."""
    return click.option(
        "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
    )(command)


def min_severity_option(command: Command) -> Command:
    """Add the option ``--min-severity`` to *command*."""
    return click.option(
        "--min-severity",
        type=click.Choice(["error", "warning", "info"]),
        default="warning",
        show_default=True,
        help="Minimum severity of the violations to report; info is advice of model providers.",
    )(command)


def target_option(command: Command) -> Command:
    """Add the option ``--target`` to *command*."""
    return click.option(
        "--target",
        default=_default_target,
        show_default=f"SIDECHECK_LISTEN or SIDECHECK_UNIX_SOCKET, or {_DEFAULT_TARGET}",
        metavar="TARGET",
        help="Address of the server: host:port, or unix:/path.",
        callback=_check_target,
    )(command)


def timeout_option(seconds: float) -> Callable[[Command], Command]:
    """Return a decorator for the option ``--timeout``, by default *seconds*."""
    return click.option(
        "--timeout",
        type=click.FloatRange(0, 3600, min_open=True),
        default=seconds,
        show_default=True,
        help="Seconds to wait.",
    )


def version_option(default: str) -> Callable[[Command], Command]:
    """Return a decorator for ``--protocol-version``, whose help ends in *default*."""
    return click.option(
        "--protocol-version",
        type=click.Choice(VERSIONS),
        help=f"MCP protocol version whose rules apply.  {default}",
    )


def _check_target(_context: click.Context, _option: click.Parameter, target: str) -> str:
    if target.startswith("unix:") and not HAS_UNIX_SOCKETS:
        raise click.BadParameter("gRPC has no unix sockets on Windows; use host:port")
    return target


def _default_target() -> str:
    """Return the address of a server that has the settings in the environment."""
    listen = os.environ.get("SIDECHECK_LISTEN", _DEFAULT_TARGET)
    path = os.environ.get("SIDECHECK_UNIX_SOCKET")
    if path and os.environ.get("SIDECHECK_TLS_CERTIFICATE"):
        return f"unix:{path}"  # needs no certificates
    return listen or (f"unix:{path}" if path else _DEFAULT_TARGET)
