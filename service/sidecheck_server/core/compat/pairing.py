"""Pairing of the definitions of two sets of tools."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sidecheck_server.core.compat.changes import Change, ToolComparison, ToolStatus
from sidecheck_server.core.compat.tools import tool_change
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.explain.values import quote
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, read_tool, read_tool_name
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.types import Document

__all__ = [
    "DefinitionEntry",
    "Pair",
    "compare_trivial_pair",
    "not_compared",
    "pair_definitions",
    "read_definition",
]


@dataclass(frozen=True, slots=True)
class DefinitionEntry:
    """Definition in a set, or the reason why it cannot be read."""

    #: "" if no name can be read.
    name: str
    definition: ToolDefinition | None
    error: str = ""
    #: Digest of the definition without its name.
    nameless_digest: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Old and new definition of a tool; None on a side without the tool."""

    old: DefinitionEntry | None
    new: DefinitionEntry | None

    @property
    def is_renamed(self) -> bool:
        """Whether the sides have different names."""
        return self.old is not None and self.new is not None and self.old.name != self.new.name


def read_definition(
    text: bytes, documents: tuple[Document, ...], limits: Limits
) -> DefinitionEntry:
    """Return the definition with the JSON *text*; errors become part of the entry."""
    try:
        definition = read_tool(text, documents, limits)
    except RequestError as error:
        return DefinitionEntry(read_tool_name(text, limits), None, error.message)
    properties = read_json(definition.json)
    del properties["name"]
    return DefinitionEntry(
        definition.name, definition, nameless_digest=digest_of(properties, documents)
    )


def pair_definitions(
    old: Iterable[DefinitionEntry], new: Iterable[DefinitionEntry]
) -> Sequence[Pair]:
    """Return the pairs of *old* and *new*: new tools in order, then removed ones.

    Definitions with the same name form a pair. So do two definitions whose names occur on one
    side only, if they are equal but for the name, and no other definition is equal to them.
    Of several definitions with one name the last one counts, as for registration.
    """
    before = {entry.name: entry for entry in old}
    after = {entry.name: entry for entry in new}
    removed = _group_by_content(entry for name, entry in before.items() if name not in after)
    added = _group_by_content(entry for name, entry in after.items() if name not in before)
    renamed = {
        entries[0].name: removed[digest][0]
        for digest, entries in added.items()
        if digest and len(entries) == len(removed.get(digest, ())) == 1
    }
    old_names = {entry.name for entry in renamed.values()}
    pairs = [Pair(before.get(name, renamed.get(name)), entry) for name, entry in after.items()]
    removed_entries = (
        entry for name, entry in before.items() if name not in after and name not in old_names
    )
    return [*pairs, *(Pair(entry, None) for entry in removed_entries)]


def _group_by_content(entries: Iterable[DefinitionEntry]) -> dict[str, list[DefinitionEntry]]:
    groups: dict[str, list[DefinitionEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.nameless_digest, []).append(entry)
    return groups


def compare_trivial_pair(pair: Pair) -> ToolComparison | None:
    """Return the outcome of *pair* if it needs no comparison of contents, else None."""
    old, new = pair.old, pair.new
    name = (new or old or _MISSING).name
    digests = _digest(old), _digest(new)
    unreadable = [
        not_compared(f"the {version} definition cannot be read: {entry.error}", locations)
        for version, entry, locations in (("old", old, ("", None)), ("new", new, (None, "")))
        if entry is not None and entry.error
    ]
    if old is None or new is None:
        status = ToolStatus.ADDED if old is None else ToolStatus.REMOVED
        locations = (None, "") if old is None else ("", None)
        change = tool_change(f"TOOL_{status.upper()}", f"the tool was {status}", locations)
        return ToolComparison(status, name, "", *digests, (change, *unreadable))
    if pair.is_renamed:
        message = f"the tool was renamed from {quote(old.name)} to {quote(new.name)}"
        change = tool_change("TOOL_RENAMED", message, ("/name", "/name"), (old.name, new.name))
        return ToolComparison(ToolStatus.RENAMED, name, old.name, *digests, (change,))
    if unreadable:
        return ToolComparison(ToolStatus.CHANGED, name, "", *digests, tuple(unreadable))
    if digests[0] == digests[1]:
        return ToolComparison(ToolStatus.UNCHANGED, name, "", *digests)
    return None


def not_compared(reason: str, locations: tuple[str | None, str | None] = ("", "")) -> Change:
    """Return the change of a tool that cannot be compared, for *reason*.

    *locations* are the locations of the faulty definitions.
    """
    return tool_change("NOT_COMPARED", reason, locations)


_MISSING = DefinitionEntry("", None)


def _digest(side: DefinitionEntry | None) -> str:
    return side.definition.digest if side is not None and side.definition is not None else ""
