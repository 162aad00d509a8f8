"""Files of tool definitions that must be usable as a whole."""

import click

from sidecheck_server.cli.findings import Finding, Source, find_violations
from sidecheck_server.cli.rows import printable
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.listing import ListedTool, Listing, read_listing
from sidecheck_server.core.types import Violation

__all__ = ["list_or_exit", "list_or_find"]


class _Unusable(click.ClickException):
    """A file lists no tools; the command exits with 2."""

    exit_code = 2


def list_or_find(source: Source, limits: Limits) -> Listing | list[Finding]:
    """Return *source* taken apart, or what is wrong with it if it lists no tools."""
    try:
        return read_listing(source.text, limits)
    except RequestError as refusal:
        problems = refusal.violations or (
            Violation("", "", "", refusal.reason.value, refusal.message),
        )
        return find_violations(source, problems)


def list_or_exit(name: str, text: bytes, limits: Limits) -> tuple[ListedTool, ...]:
    """Return the tools of the file *name* that has the content *text*.

    Raises:
        click.ClickException: it lists none; the command exits with 2 and tells why.
    """
    listed = list_or_find(Source(name, text), limits)
    if isinstance(listed, Listing):
        return listed.tools
    place, found = listed[0].place, listed[0].violation
    said = f"{name}:{place.line}:{place.column}: {found.code}: {found.message}"
    raise _Unusable(printable(said))
