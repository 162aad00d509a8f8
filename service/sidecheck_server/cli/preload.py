"""Tools that a server registers before it is ready, out of files."""

from collections.abc import Iterable

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.listings import list_or_exit
from sidecheck_server.core.limits import Limits
from sidecheck_server.services.registration import Registration
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.settings import ToolsFile

__all__ = ["read_preload"]


def read_preload(files: Iterable[ToolsFile], limits: Limits) -> tuple[Registration, ...]:
    """Return the registration that each of *files* asks for.

    Raises:
        click.ClickException: a file cannot be read, or lists no tools; the command
            exits with 2.
    """
    return tuple(_registration(one, limits) for one in files)


def _registration(given: ToolsFile, limits: Limits) -> Registration:
    name = str(given.file)
    server = given.server or given.file.stem
    if not server.isprintable():
        raise click.UsageError(f"{name}: its name cannot be that of a server; give --tools-server")
    listed = list_or_exit(name, read_input(name), limits)
    if len(listed) > limits.batch_items:
        raise click.UsageError(
            f"{name}: {len(listed):,} tools, more than the limit of {limits.batch_items:,} "
            "(batch_items)"
        )
    return Registration(server, tuple(InlineTool(tool.json) for tool in listed))
