"""Tools to compare, from files and running servers, with their positions."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.findings import Finding, Source, Spot, create_findings
from sidecheck_server.cli.in_process import LIMITS
from sidecheck_server.cli.rows import Row, escape, write_rows
from sidecheck_server.cli.tool_files import list_named_or_exit, list_or_exit
from sidecheck_server.core.compat.changes import Change, Level, Reading, ToolComparison
from sidecheck_server.core.mcp.tool_definitions import duplicate_names, read_tool_name
from sidecheck_server.core.mcp.tool_outcomes import ListedTool
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.types import Document, Severity, Violation, pointer_steps
from sidecheck_server.services.targets import InlineTool

if TYPE_CHECKING:
    from sidecheck import BlockingClient

__all__ = [
    "ComparedFiles",
    "ComparedTools",
    "ToolChange",
    "compared_tools",
    "is_registered",
    "read_file",
    "read_registered",
]

_PREFIX: Final = "server:"


@dataclass(frozen=True, slots=True)
class ComparedTools:
    """Tools of one side of a comparison."""

    #: File, or a generated file with the registered tools.
    source: Source
    #: Tools with their pointers in the source.
    entries: Sequence[ListedTool]
    tools: Sequence[InlineTool]


def is_registered(name: str) -> bool:
    """Return whether *name* is ``server:`` and a namespace rather than a file."""
    return name.startswith(_PREFIX)


def read_file(name: str, documents: tuple[Document, ...]) -> ComparedTools:
    """Return the tools in the file *name*; see `compared_tools`.

    Raises:
        click.ClickException: the file cannot be read or has no tools; exit code 2.
    """
    return compared_tools(Source(name, read_input(name)), documents)


def compared_tools(source: Source, documents: tuple[Document, ...]) -> ComparedTools:
    """Return the tools in *source*, which may refer to *documents*.

    Warns on standard error if the file is one page of several, or if tools share a name.

    Raises:
        click.ClickException: it has no tools; exit code 2.
    """
    entries = list_named_or_exit(source.name, source.text, LIMITS)
    warnings = [_PAGE] if _is_page(source.text) else []
    names = duplicate_names(read_tool_name(tool.json, LIMITS) for tool in entries)
    warnings += [
        _DUPLICATE.format(json.dumps(tool_name, ensure_ascii=False)) for tool_name in sorted(names)
    ]
    if warnings:
        texts = [escape(f"Warning: {source.name}: {warning}") for warning in warnings]
        write_rows([Row(((text, "bold yellow"),)) for text in texts], to_stderr=True)
    return ComparedTools(source, entries, [InlineTool(tool.json, documents) for tool in entries])


_PAGE: Final = (
    'it has a "nextCursor", so it is one page of a list, and the tools of other pages are missing'
)
_DUPLICATE: Final = "several tools have the name {}; only the last one is compared"


def _is_page(text: bytes) -> bool:
    """Return whether *text*, a list of tools, is a page with a next cursor."""
    value = read_json(text)
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        value = value["result"]
    return isinstance(value, dict) and "tools" in value and value.get("nextCursor") is not None


def read_registered(client: "BlockingClient", name: str) -> ComparedTools:
    """Return the registered tools of the namespace in *name*, ``server:NAMESPACE``.

    Raises:
        click.UsageError: no tools are registered in the namespace.
        SidecheckError: the server cannot list them.
    """
    server = name.removeprefix(_PREFIX)
    registered = list(client.list(server)) if server else []
    if not registered:
        raise click.UsageError(escape(f"no tools are registered for the server {server!r}"))
    text = b"[\n%s\n]\n" % b",\n".join(tool.json for tool in registered)
    tools = [
        InlineTool(
            tool.json,
            tuple(Document(item.uri, _document_text(item.json)) for item in tool.documents),
        )
        for tool in registered
    ]
    return ComparedTools(Source(name, text), list_or_exit(name, text, LIMITS), tools)


def _document_text(text: object) -> bytes:
    """Return *text*, the JSON text of a registered document."""
    assert isinstance(text, bytes), "the client returns registered documents as bytes"
    return text


_SEVERITIES = {
    Level.BREAKING: Severity.ERROR,
    Level.UNDECIDED: Severity.WARNING,
    Level.RISKY: Severity.WARNING,
}

ToolChange = tuple[ToolComparison, Change]


class ComparedFiles:
    """Old and new file of a comparison, with the positions of tools and changes."""

    def __init__(self, old: ComparedTools, new: ComparedTools) -> None:
        self._old, self._new = _File(old), _File(new)

    @property
    def names(self) -> list[str]:
        """Distinct names of the files."""
        return list(dict.fromkeys((self._old.source.name, self._new.source.name)))

    def create_findings(self, changes: Sequence[ToolChange], reading: Reading) -> list[Finding]:
        """Return a finding for each of *changes*, in the new file where possible."""
        in_new_file = [change.new_location is not None for _tool, change in changes]
        new_findings, old_findings = (
            iter(
                create_findings(
                    file.source,
                    [
                        self._spot(file, tool_change, reading)
                        for tool_change, is_new in zip(changes, in_new_file, strict=True)
                        if is_new is of_new_file
                    ],
                )
            )
            for file, of_new_file in ((self._new, True), (self._old, False))
        )
        return [next(new_findings if is_new else old_findings) for is_new in in_new_file]

    def find_in_new(self, changes: Sequence[ToolChange], reading: Reading) -> list[Finding]:
        """Return a finding for each of *changes* in the new file.

        A removed value is located at its nearest remaining ancestor.
        """
        return create_findings(
            self._new.source,
            [self._spot(self._new, tool_change, reading) for tool_change in changes],
        )

    def find_in_old(self, changes: Sequence[ToolChange], reading: Reading) -> list[Finding | None]:
        """Return a finding for each of *changes* in the old file, None for an added value."""
        located = [(tool, change) for tool, change in changes if change.old_location is not None]
        findings = iter(
            create_findings(
                self._old.source,
                [self._spot(self._old, tool_change, reading) for tool_change in located],
            )
        )
        return [
            None if change.old_location is None else next(findings) for _tool, change in changes
        ]

    def _spot(self, file: "_File", tool_change: ToolChange, reading: Reading) -> Spot:
        tool, change = tool_change
        severity = _SEVERITIES.get(change.effects.of(reading).level, Severity.INFO)
        violation = Violation("", "", change.keyword, change.code, change.message, severity)
        is_new = file is self._new
        location, other_location = change.old_location, change.new_location
        if is_new:
            location, other_location = other_location, location
        name = tool.name if is_new else tool.old_name or tool.name
        if location is not None:
            return Spot(violation, file.pointers.get(name, "") + location, tool.name)
        start = file.pointers.get(name)
        pointer = (
            file.list_pointer if start is None else file.find_nearest(start, other_location or "")
        )
        return Spot(violation, pointer, tool.name, at_key=True)


class _File:
    def __init__(self, tools: ComparedTools) -> None:
        self.source: Source = tools.source
        #: Pointers of tools by name. The last definition of a name counts, as in the comparison.
        self.pointers = {read_tool_name(tool.json, LIMITS): tool.pointer for tool in tools.entries}
        first_pointer = next(iter(self.pointers.values()), None)
        #: Pointer of the list of tools; "" if the file has a single tool.
        self.list_pointer = "" if first_pointer is None else first_pointer.rpartition("/")[0]

    @cached_property
    def _value(self) -> Any:
        return read_json(self.source.text)

    def find_nearest(self, start: str, rest: str) -> str:
        """Return *start*, a tool's pointer, with the steps of *rest* that exist here.

        Stops at arrays, whose items may have different indexes in the two files.
        """
        value = self._value
        for step in pointer_steps(start):
            value = value[int(step)] if isinstance(value, list) else value[step]
        pointer = start
        for step, part in zip(pointer_steps(rest), rest.split("/")[1:], strict=True):
            if not isinstance(value, dict) or step not in value:
                break
            value, pointer = value[step], f"{pointer}/{part}"
        return pointer
