"""Which definitions of two sets belong together."""

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
    "Pair",
    "ReadDefinition",
    "compare_unpaired",
    "not_compared",
    "pair_definitions",
    "read_definition",
]


@dataclass(frozen=True, slots=True)
class ReadDefinition:
    """A definition of a set, or why it cannot be read."""

    #: "" if it has none that can be read.
    name: str
    definition: ToolDefinition | None
    error: str = ""
    #: Digest of all but the name.
    nameless_digest: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """The old and the new definition of a tool; None on the side that lacks it."""

    old: ReadDefinition | None
    new: ReadDefinition | None

    @property
    def is_renamed(self) -> bool:
        """Whether the sides have different names."""
        return self.old is not None and self.new is not None and self.old.name != self.new.name


def read_definition(text: bytes, documents: tuple[Document, ...], limits: Limits) -> ReadDefinition:
    """Return the definition *text*; a fault of it is kept rather than raised."""
    try:
        definition = read_tool(text, documents, limits)
    except RequestError as error:
        return ReadDefinition(read_tool_name(text, limits), None, error.message)
    properties = read_json(definition.json)
    del properties["name"]
    return ReadDefinition(
        definition.name, definition, nameless_digest=digest_of(properties, documents)
    )


def pair_definitions(
    old: Iterable[ReadDefinition], new: Iterable[ReadDefinition]
) -> Sequence[Pair]:
    """Return the pairs of *old* and *new*: the new tools in their order, then removed ones.

    Tools belong together by name, and tools whose names occur on one side only if all but
    their names is equal, if no other tool is equal to them. Of several definitions with
    one name the last one counts, as for registration.
    """
    before = {each.name: each for each in old}
    after = {each.name: each for each in new}
    removed = _by_content(each for name, each in before.items() if name not in after)
    added = _by_content(each for name, each in after.items() if name not in before)
    renamed = {
        twins[0].name: removed[digest][0]
        for digest, twins in added.items()
        if digest and len(twins) == len(removed.get(digest, ())) == 1
    }
    moved = {each.name for each in renamed.values()}
    pairs = [Pair(before.get(name, renamed.get(name)), each) for name, each in after.items()]
    gone = (each for name, each in before.items() if name not in after and name not in moved)
    return [*pairs, *(Pair(each, None) for each in gone)]


def _by_content(definitions: Iterable[ReadDefinition]) -> dict[str, list[ReadDefinition]]:
    by_content: dict[str, list[ReadDefinition]] = {}
    for each in definitions:
        by_content.setdefault(each.nameless_digest, []).append(each)
    return by_content


def compare_unpaired(pair: Pair) -> ToolComparison | None:
    """Return the outcome of *pair* if there are no two contents to compare, else None."""
    old, new = pair.old, pair.new
    name = (new or old or _NOBODY).name
    digests = _digest(old), _digest(new)
    unreadable = [
        not_compared(f"the {version} definition cannot be read: {each.error}", locations)
        for version, each, locations in (("old", old, ("", None)), ("new", new, (None, "")))
        if each is not None and each.error
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
    """Return the change of a tool that could not be compared for *reason*.

    *locations* are those of the definitions that are at fault.
    """
    return tool_change("NOT_COMPARED", reason, locations)


_NOBODY = ReadDefinition("", None)


def _digest(side: ReadDefinition | None) -> str:
    return side.definition.digest if side is not None and side.definition is not None else ""
