"""Parts: subschemas on their way from one form to another.

A schema is read into a graph of parts, fitted to what an API takes, and written out. No
pass can mistake data for a schema: subschemas are parts, and nothing else is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.types import as_pointer

__all__ = ["Entries", "Part", "Undo", "copied", "members_of", "reachable"]


@dataclass(frozen=True, slots=True)
class Entries:
    """The members of an object as a list of objects, one for each."""

    #: The member that has the name.
    name: str = "name"
    #: The member that has the value.
    value: str = "value"


@dataclass(slots=True)
class Undo:
    """How payloads at a part differ from those at the original; all of it can be undone."""

    #: Members, by their names in the API, that are null where the original has none.
    nulls: list[str] = field(default_factory=list)
    #: Names of members in the API, and in the original.
    renamed: dict[str, str] = field(default_factory=dict)
    #: The object is a list of its members.
    entries: Entries | None = None
    #: The value is a string that holds its JSON text.
    json_text: bool = False
    #: The value is the one member, of that name, of an object.
    wrapped: str = ""


@dataclass(slots=True, eq=False)
class Part:
    """One subschema, in the keywords of 2020-12.

    ``keywords`` has, where a keyword has subschemas, parts in their place: one, a list, or
    a dict by name. ``$ref`` has the part that it leads to, so a graph may be cyclic; there
    are no ``$defs``, ``$id``, anchors or dynamic references. ``{}`` and ``True`` are a part
    without keywords, ``False`` is one whose `never` is set.
    """

    #: Where it stands in the definition, for example ``("inputSchema", "properties", "a")``.
    at: tuple[str | int, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    #: Whether nothing is admitted.
    never: bool = False
    #: What its description says beside what the author wrote, in order.
    notes: list[str] = field(default_factory=list)
    #: How payloads differ from the original's.
    undo: Undo = field(default_factory=Undo)
    #: The name that its author gave it, where it is a definition; "" elsewhere.
    name: str = ""

    @property
    def pointer(self) -> str:
        """Where it stands, as a JSON Pointer into the definition."""
        return as_pointer(self.at)

    def parts(self) -> list["Part"]:
        """Return the parts that it holds; what ``$ref`` leads to is one of them."""
        found: list[Part] = []
        for value in self.keywords.values():
            if isinstance(value, _HOLDING):
                found += _parts_in(value)
        return found

    def below(self) -> Iterator[tuple[str, "Part"]]:
        """Yield the parts that it holds, with the keyword of each; ``$ref`` is one of them."""
        for keyword, value in self.keywords.items():
            if isinstance(value, _HOLDING):
                for part in _parts_in(value):
                    yield keyword, part


_HOLDING = (Part, list, dict)
"""What the value of a keyword is, if there are parts in it."""


def _parts_in(value: Any) -> list[Part]:
    """Return the parts that the *value* of a keyword is, or lists, or has by name."""
    if isinstance(value, Part):
        return [value]
    items = value.values() if isinstance(value, dict) else value
    return [item for item in items if isinstance(item, Part)]


def reachable(root: Part) -> list[Part]:
    """Return *root* and every part below it, each once, in the order of the text."""
    found: dict[int, Part] = {}
    pending = [root]
    while pending:
        part = pending.pop()
        if id(part) not in found:
            found[id(part)] = part
            pending.extend(reversed(part.parts()))
    return list(found.values())


def copied(root: Part) -> Part:
    """Return a copy of the graph at *root* that shares no part with it."""
    parts = reachable(root)
    copies = {
        id(part): Part(part.at, dict(part.keywords), part.never, list(part.notes), name=part.name)
        for part in parts
    }
    for part in parts:
        copy = copies[id(part)]
        for keyword, value in part.keywords.items():
            copy.keywords[keyword] = _mapped(value, copies)
    return copies[id(root)]


def _mapped(value: Any, copies: dict[int, Part]) -> Any:
    if isinstance(value, Part):
        return copies[id(value)]
    if isinstance(value, list):
        return [copies[id(item)] if isinstance(item, Part) else item for item in value]
    if isinstance(value, dict):
        return {
            name: copies[id(item)] if isinstance(item, Part) else item
            for name, item in value.items()
        }
    return value


def members_of(root: Part) -> set[str]:
    """Return the names of all members that objects declare, at *root* and below."""
    return {
        name
        for part in reachable(root)
        for name in (*part.keywords.get("properties", ()), *part.keywords.get("required", ()))
    }
