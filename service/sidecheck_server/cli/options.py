"""Options that several commands have."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.types import Document

__all__ = [
    "FILE",
    "document_option",
    "examples",
    "excerpts_option",
    "form_option",
    "read_documents",
    "target_option",
    "timeout_option",
    "version_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])

#: A file, or - for standard input; shells complete it.
FILE = click.Path(allow_dash=True)

_DEFAULT_TARGET = "127.0.0.1:50151"


def document_option(command: Command) -> Command:
    """Give *command* the option ``--document``."""
    return click.option(
        "--document",
        "documents",
        type=(str, FILE),
        multiple=True,
        metavar="URI FILE",
        help="A document that a schema refers to. May be repeated.",
    )(command)


def read_documents(documents: tuple[tuple[str, str], ...]) -> tuple[Document, ...]:
    """Return the documents that ``--document`` names.

    Raises:
        click.UsageError: a file cannot be read.
    """
    return tuple(Document(uri, read_input(file)) for uri, file in documents)


def examples(*commands: str) -> str:
    """Return the end of a command's help, with *commands* as they are."""
    # The first character keeps click from filling the lines that follow.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


def excerpts_option(command: Command) -> Command:
    """Give *command* the option ``--excerpts``."""
    return click.option(
        "--excerpts/--no-excerpts",
        default=None,
        help="Show the place of each problem in its file.  [default: on a terminal]",
    )(command)


def form_option(command: Command) -> Command:
    """Give *command* the option ``--format`` of text and JSON."""
    return click.option(
        "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
    )(command)


def target_option(command: Command) -> Command:
    """Give *command* the option ``--target``."""
    return click.option(
        "--target",
        default=_target,
        show_default=f"as SIDECHECK_LISTEN or SIDECHECK_UNIX_SOCKET says, or {_DEFAULT_TARGET}",
        metavar="TARGET",
        help="The server: host:port, or unix:/path.",
    )(command)


def timeout_option(seconds: float) -> Callable[[Command], Command]:
    """Return what gives a command the option ``--timeout``, by default *seconds*."""
    return click.option(
        "--timeout",
        type=click.FloatRange(0, 3600, min_open=True),
        default=seconds,
        show_default=True,
        help="Seconds to wait.",
    )


def version_option(default: str) -> Callable[[Command], Command]:
    """Return what gives a command the option ``--protocol-version``, whose help says *default*."""
    return click.option(
        "--protocol-version",
        type=click.Choice(VERSIONS),
        help=f"The MCP protocol version whose rules hold.  {default}",
    )


def _target() -> str:
    """Return where a server listens that has its settings from this environment."""
    listen = os.environ.get("SIDECHECK_LISTEN", _DEFAULT_TARGET)
    path = os.environ.get("SIDECHECK_UNIX_SOCKET")
    return listen or (f"unix:{path}" if path else _DEFAULT_TARGET)
