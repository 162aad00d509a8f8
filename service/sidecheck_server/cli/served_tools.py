"""Tools of a running MCP server, in place of a file of tools."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.findings import Source
from sidecheck_server.cli.options import Command
from sidecheck_server.cli.proxy_headers import UPSTREAM_TOKEN, upstream_headers
from sidecheck_server.cli.proxy_values import is_http_url
from sidecheck_server.cli.rows import escape

if TYPE_CHECKING:
    from sidecheck_server.proxy.asking.client import McpClient

__all__ = ["ServedTools", "ServerCommand", "read_served", "read_sources", "server_options"]

_SEPARATOR: Final = "--"
_COMMAND: Final = "sidecheck.server_command"
"""Key of the command of a server in the context of a command."""


class ServerCommand(click.Command):
    """A command that takes the command of a server after ``--``, with `server_options`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the command of the server aside."""
        if _SEPARATOR in args:
            at = args.index(_SEPARATOR)
            ctx.meta[_COMMAND] = tuple(args[at + 1 :])
            args = args[:at]
            if not ctx.meta[_COMMAND]:
                raise click.UsageError("-- needs the command of a server after it", ctx)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the parts of the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


@dataclass(frozen=True, slots=True)
class ServedTools:
    """The list of tools of a server."""

    #: The list as a JSON text with a line for each tool; its name is that of the server.
    source: Source
    #: Negotiated version of the protocol.
    version: str


def server_options(command: Command) -> Command:
    """Add the options for a running server to *command*, a `ServerCommand`; see `read_served`."""
    for option in (
        click.option(
            "--server-timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=30.0,
            show_default=True,
            help="Time for each response of a running MCP server, in seconds.",
        ),
        click.option(
            "--header",
            "headers",
            multiple=True,
            metavar="NAME:VALUE",
            help=f"With --url, header of each request. May be repeated. Give a token by "
            f"{UPSTREAM_TOKEN}, so that it is not in the list of processes.",
        ),
        click.option(
            "--url",
            metavar="URL",
            help="Running MCP server over HTTP, whose tools are read in place of a file.",
        ),
    ):
        command = option(command)
    return command


def read_served(
    context: click.Context,
    url: str | None,
    headers: tuple[str, ...],
    seconds: float,
    version: str | None = None,
) -> ServedTools | None:
    """Return the tools of the server at *url*, or of the command after ``--``; None without both.

    *version* is the version of the protocol to ask for; None for any.

    Raises:
        click.ClickException: the server cannot be started or reached, or does not list its tools;
            exit code 2.
    """
    server: tuple[str, ...] | None = context.meta.get(_COMMAND)
    if url is None:
        if headers:
            raise click.UsageError("--header needs --url")
        if server is None:
            return None
        name = server[0]
    elif server is not None:
        raise click.UsageError("give --url or a command after --, not both")
    elif not is_http_url(url):
        raise click.UsageError(f"--url {escape(url)}: expected a URL of http or https")
    else:
        name = _without_credentials(url)
    # Imported late, because files do not need it.
    from sidecheck_server.proxy.asking.servers import (  # noqa: PLC0415
        connect_command,
        connect_url,
    )

    def connect() -> "AbstractAsyncContextManager[McpClient]":
        if server is not None:
            return connect_command(server, seconds)
        assert url is not None
        return connect_url(url, upstream_headers(headers), seconds)

    return _list_or_exit(name, connect, version)


def read_sources(files: Sequence[str], served: ServedTools | None) -> list[Source]:
    """Return the contents of *files*, each once, and the list of *served*.

    Raises:
        click.UsageError: there are none, or a file cannot be read; exit code 2.
    """
    if not files and served is None:
        raise click.UsageError("give a FILE, --url, or the command of a server after --")
    sources = [Source(name, read_input(name)) for name in dict.fromkeys(files)]
    return sources + ([served.source] if served else [])


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


class _ServerError(click.ClickException):
    """The server does not list its tools."""

    exit_code = 2


def _list_or_exit(
    name: str, connect: "Callable[[], AbstractAsyncContextManager[McpClient]]", version: str | None
) -> ServedTools:
    from sidecheck_server.proxy.asking.client import ServerFailedError  # noqa: PLC0415
    from sidecheck_server.proxy.stdio.server_process import (  # noqa: PLC0415
        ServerNotStartedError,
    )

    async def list_tools() -> tuple[list[bytes], str]:
        async with connect() as client:
            await client.start(version)
            return await client.list_tools(), client.version

    try:
        tools, negotiated = asyncio.run(list_tools())
    except ServerNotStartedError as error:
        raise _ServerError(escape(str(error))) from None
    except ServerFailedError as error:
        raise _ServerError(escape(f"{name}: {error}")) from None
    text = b'{"tools": [\n' + b",\n".join(tools) + b"\n]}\n"
    return ServedTools(Source(name, text), negotiated)
