"""Values of the registry: definitions, bindings, and the results of transactions."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeVar
from uuid import UUID, uuid4

from sidecheck_server.core.types import Document

__all__ = [
    "MAX_SERVER_LENGTH",
    "Action",
    "Binding",
    "Bound",
    "Change",
    "Definition",
    "Deleted",
    "Interned",
    "Registered",
]

_Value = TypeVar("_Value")

MAX_SERVER_LENGTH: Final = 256
"""Most characters of the name of a server; it has at least one."""


class Interned:
    """Maps equal values to one object."""

    def __init__(self) -> None:
        self._values: dict[object, object] = {}

    def get(self, value: _Value) -> _Value:
        """Return the first value passed in that equals *value*."""
        return self._values.setdefault(value, value)  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool definition as it was registered, known by its digest.

    The digest is that of the definition's canonical JSON, so texts that differ in
    whitespace or in the order of properties share it, and so do texts that came
    with different documents.
    """

    #: "sha256:" and the hexadecimal SHA-256 of the canonical JSON.
    digest: str
    #: The name that the definition gives to the tool.
    name: str
    #: The text, byte for byte as it was sent: property order matters to models.
    json: bytes
    #: The documents that its schemas may refer to.
    documents: tuple[Document, ...]
    #: The digest of its input schema.
    input_schema_digest: str
    #: The digest of its output schema, if it has one.
    output_schema_digest: str | None
    #: The protocol version that it was registered under.
    protocol_version: str

    @property
    def size(self) -> int:
        """The bytes of JSON that it consists of, its documents included."""
        return len(self.json) + sum(len(document.json) for document in self.documents)

    @property
    def stored_size(self) -> int:
        """The bytes that quotas count: its size, and the URIs of its documents."""
        uris = sum(len(document.uri.encode("utf-8", "replace")) for document in self.documents)
        return self.size + uris


@dataclass(frozen=True, slots=True)
class Binding:
    """A name in the namespace of a server, and the definition it is bound to."""

    #: The namespace.
    server: str
    #: The definition, whose name is the name that is bound.
    definition: Definition
    #: The revision of the registry at which the name was bound to it.
    revision: int

    @property
    def name(self) -> str:
        """The name that is bound."""
        return self.definition.name


@dataclass(frozen=True, slots=True)
class Change:
    """All that one transaction changed: bindings in the namespace of one server."""

    #: The revision of the registry since the change.
    revision: int
    server: str
    #: The names that are no longer bound, sorted.
    unbound: tuple[str, ...]
    #: The bindings that were added, or replaced another of their name, sorted by name.
    bound: tuple[Binding, ...]
    #: Whether it is what two states of the registry differ by in this server, because the
    #: changes between them are not known, or the registry was set back. All such changes to
    #: one state have its revision, which may be lower than that of the change before.
    is_reload: bool = False
    #: Whether another such change to the same state follows at once.
    is_continued: bool = False
    #: Its identity: a registry that was set back gives a revision to another change.
    id: UUID = field(default_factory=uuid4, compare=False)


class Action(StrEnum):
    """Effect of registering a definition on its name."""

    CREATED = "created"
    """The name was not bound."""
    CHANGED = "changed"
    """The name was bound to a definition of another digest, or under another version."""
    UNCHANGED = "unchanged"
    """The name was bound to a definition of the same digest and version, and stays so."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Result of binding a definition."""

    action: Action
    #: The digest that the name was bound to before, or None if it was not bound.
    previous_digest: str | None


@dataclass(frozen=True, slots=True)
class Registered:
    """Result of a registration."""

    #: One for each definition, in their order.
    bound: tuple[Bound, ...]
    #: The names that were removed because they are not in the registration, sorted.
    removed: tuple[str, ...]
    #: The revision of the registry afterwards.
    revision: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """Result of a removal."""

    #: The names that were removed, sorted.
    deleted: tuple[str, ...]
    #: The names that were not bound, sorted.
    unknown: tuple[str, ...]
    #: The revision of the registry afterwards.
    revision: int
