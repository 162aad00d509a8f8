"""Types and checks of the values of options of `sidecheck proxy`."""

import re
from io import FileIO
from typing import Any, Literal
from urllib.parse import urlsplit

import click

from sidecheck_server.cli.rows import escape
from sidecheck_server.proxy.stdio.operating_system import open_privately

__all__ = ["OutputFile", "check_hosts", "check_public_url", "is_http_url"]


class OutputFile(click.ParamType[FileIO]):
    """Output file that is unbuffered, non-blocking, and accessible to its owner only.

    Opening or writing a pipe never waits for a reader.
    """

    name = "file"

    def __init__(self, mode: Literal["a", "w"]) -> None:
        self._mode = mode

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> FileIO:
        """Open the file *value*."""
        if value == "-":
            self.fail("standard output is for messages; name a file", param, ctx)
        try:
            file = FileIO(value, self._mode, opener=open_privately)
        except OSError as error:
            self.fail(escape(f"{value}: {error.strerror}"), param, ctx)
        if ctx is not None:
            ctx.call_on_close(file.close)
        return file


def check_hosts(
    _context: click.Context, _option: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the host *names* in lower case.

    Raises:
        click.BadParameter: a name is a URL, or otherwise not a name.
    """
    for name in names:
        if not _HOST.fullmatch(name):
            raise click.BadParameter(f"{escape(name)}: expected a host name, NAME:PORT or *")
    return tuple(name.lower() for name in names)


_HOST = re.compile(r"\*|(?:[\w.-]++|\[[0-9A-Fa-f:.]++\])(?::\d{1,5})?")


def check_public_url(
    _context: click.Context, _option: click.Parameter, url: str | None
) -> str | None:
    """Return *url*.

    Raises:
        click.BadParameter: it is not a URL of http or https, or it has a query or fragment.
    """
    if url is not None and not (is_http_url(url) and url.isascii() and not {*"?#"} & {*url}):
        raise click.BadParameter(
            f"{escape(url)}: expected a URL of http or https without query and fragment"
        )
    return url


def is_http_url(url: str) -> bool:
    """Return whether *url* is a URL of http or https with a host."""
    try:
        parts = urlsplit(url)
        return bool(parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0)
    except ValueError:
        return False
