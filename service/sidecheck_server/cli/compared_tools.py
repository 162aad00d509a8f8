"""The tools that a comparison reads: from files, and from the registry of a running server."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.findings import Source
from sidecheck_server.cli.in_process import LIMITS
from sidecheck_server.cli.rows import Row, printable, write_rows
from sidecheck_server.cli.tool_files import list_named_or_exit, list_or_exit
from sidecheck_server.core.mcp.tool_definitions import duplicate_names, read_tool_name
from sidecheck_server.core.mcp.tool_lists import ListedTool
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.types import Document
from sidecheck_server.services.targets import InlineTool

if TYPE_CHECKING:
    from sidecheck import BlockingClient

__all__ = ["ComparedTools", "is_registered", "read_file", "read_registered"]

_PREFIX: Final = "server:"


@dataclass(frozen=True, slots=True)
class ComparedTools:
    """One side of a comparison."""

    #: A file, or what a file with the registered tools would contain.
    source: Source
    #: As they stand in the source.
    listed: Sequence[ListedTool]
    tools: Sequence[InlineTool]


def is_registered(name: str) -> bool:
    """Return whether *name* is ``server:`` and a namespace rather than a file."""
    return name.startswith(_PREFIX)


def read_file(name: str, documents: tuple[Document, ...]) -> ComparedTools:
    """Return the tools in the file *name*, which may refer to *documents*.

    Warnings on standard error say so if they are one page of several, or share a name.

    Raises:
        click.ClickException: it cannot be read, or lists no tools; exit code 2.
    """
    source = Source(name, read_input(name))
    listed = list_named_or_exit(source.name, source.text, LIMITS)
    warnings = [_PAGE] if _is_page(source.text) else []
    names = duplicate_names(read_tool_name(tool.json, LIMITS) for tool in listed)
    warnings += [_DUPLICATE.format(json.dumps(each, ensure_ascii=False)) for each in sorted(names)]
    if warnings:
        texts = [printable(f"Warning: {name}: {warning}") for warning in warnings]
        write_rows([Row(((text, "bold yellow"),)) for text in texts], aside=True)
    return ComparedTools(source, listed, [InlineTool(tool.json, documents) for tool in listed])


_PAGE: Final = (
    'it has a "nextCursor", so it is one page of a list, and the tools of the others are missing'
)
_DUPLICATE: Final = "several tools have the name {}; only the last one is compared"


def _is_page(text: bytes) -> bool:
    """Return whether *text*, which lists tools, is a result that others continue."""
    value = read_json(text)
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        value = value["result"]
    return isinstance(value, dict) and "tools" in value and value.get("nextCursor") is not None


def read_registered(client: "BlockingClient", name: str) -> ComparedTools:
    """Return the registered tools of the namespace that *name* has.

    Raises:
        click.UsageError: there are none; the name may be wrong.
        SidecheckError: they cannot be listed.
    """
    server = name.removeprefix(_PREFIX)
    registered = list(client.list(server)) if server else []
    if not registered:
        raise click.UsageError(printable(f"no tools are registered for the server {server!r}"))
    text = b"[\n%s\n]\n" % b",\n".join(tool.json for tool in registered)
    tools = [
        InlineTool(
            tool.json,
            tuple(Document(each.uri, _text(each.json)) for each in tool.documents),
        )
        for tool in registered
    ]
    return ComparedTools(Source(name, text), list_or_exit(name, text, LIMITS), tools)


def _text(json: object) -> bytes:
    """Return the JSON text of a registered document, which the client returns as it is."""
    assert isinstance(json, bytes)
    return json
