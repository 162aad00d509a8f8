"""The tools that a comparison reads, from files and running servers, and where they stand."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import click

from sidecheck_server.cli.files import read_input
from sidecheck_server.cli.findings import Finding, Source, Spot, find
from sidecheck_server.cli.in_process import LIMITS
from sidecheck_server.cli.rows import Row, printable, write_rows
from sidecheck_server.cli.tool_files import list_named_or_exit, list_or_exit
from sidecheck_server.core.compat.changes import Change, Level, Reading, ToolComparison
from sidecheck_server.core.mcp.tool_definitions import duplicate_names, read_tool_name
from sidecheck_server.core.mcp.tool_outcomes import ListedTool
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.types import Document, Severity, Violation, pointer_steps
from sidecheck_server.services.targets import InlineTool

__all__ = [
    "ComparedFiles",
    "ToolChange",
]


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


_SEVERITIES = {
    Level.BREAKING: Severity.ERROR,
    Level.UNDECIDED: Severity.WARNING,
    Level.RISKY: Severity.WARNING,
}

ToolChange = tuple[ToolComparison, Change]


class ComparedFiles:
    """The old and the new file, and where each tool stands in them."""

    def __init__(self, old: ComparedTools, new: ComparedTools) -> None:
        self._old, self._new = _File(old), _File(new)

    @property
    def names(self) -> list[str]:
        """The names of the files, without repetition."""
        return list(dict.fromkeys((self._old.source.name, self._new.source.name)))

    def find(self, changes: Sequence[ToolChange], reading: Reading) -> list[Finding]:
        """Return a finding for each of *changes*: in the new file if it can be shown there."""
        is_new = [change.new_location is not None for _, change in changes]
        new, old = (
            iter(
                find(
                    file.source,
                    [
                        self._spot(file, each, reading)
                        for each, chosen in zip(changes, is_new, strict=True)
                        if chosen is wanted
                    ],
                )
            )
            for file, wanted in ((self._new, True), (self._old, False))
        )
        return [next(new if chosen else old) for chosen in is_new]

    def find_in_new(self, changes: Sequence[ToolChange], reading: Reading) -> list[Finding]:
        """Return a finding for each of *changes* in the new file, near to what it lacks."""
        return find(self._new.source, [self._spot(self._new, each, reading) for each in changes])

    def find_in_old(self, changes: Sequence[ToolChange], reading: Reading) -> list[Finding | None]:
        """Return a finding for each of *changes* in the old file; None for what it lacks."""
        present = [each for each in changes if each[1].old_location is not None]
        found = iter(
            find(self._old.source, [self._spot(self._old, each, reading) for each in present])
        )
        return [None if each[1].old_location is None else next(found) for each in changes]

    def _spot(self, file: "_File", tool_change: ToolChange, reading: Reading) -> Spot:
        tool, change = tool_change
        severity = _SEVERITIES.get(change.effects.of(reading).level, Severity.INFO)
        violation = Violation("", "", change.keyword, change.code, change.message, severity)
        is_new = file is self._new
        own, other = change.old_location, change.new_location
        if is_new:
            own, other = other, own
        name = tool.name if is_new else tool.old_name or tool.name
        if own is not None:
            return Spot(violation, file.pointers.get(name, "") + own, tool.name)
        start = file.pointers.get(name)
        pointer = file.list_pointer if start is None else file.nearest(start, other or "")
        return Spot(violation, pointer, tool.name, at_key=True)


class _File:
    def __init__(self, tools: ComparedTools) -> None:
        self.source: Source = tools.source
        #: By name. The last definition of a name counts, as in the comparison.
        self.pointers = {read_tool_name(tool.json, LIMITS): tool.pointer for tool in tools.listed}
        first = next(iter(self.pointers.values()), None)
        #: Where the list of tools is, or one tool that is no list.
        self.list_pointer = "" if first is None else first.rpartition("/")[0]

    @cached_property
    def _value(self) -> Any:
        return read_json(self.source.text)

    def nearest(self, start: str, rest: str) -> str:
        """Return *start*, the pointer to a tool, and as much of *rest* as leads to a value.

        The items of an array have other positions than in the other file.
        """
        value = self._value
        for step in pointer_steps(start):
            value = value[int(step)] if isinstance(value, list) else value[step]
        found = start
        for step, part in zip(pointer_steps(rest), rest.split("/")[1:], strict=True):
            if not isinstance(value, dict) or step not in value:
                break
            value, found = value[step], f"{found}/{part}"
        return found
