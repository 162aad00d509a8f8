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
    "BindingResult",
    "Change",
    "Definition",
    "Interned",
    "RegistrationResult",
    "RemovalResult",
]

_Value = TypeVar("_Value")

MAX_SERVER_LENGTH: Final = 256
"""Maximum characters of the name of a server; the minimum is 1."""


class Interned:
    """Maps equal values to one object."""

    def __init__(self) -> None:
        self._values: dict[object, object] = {}

    def get(self, value: _Value) -> _Value:
        """Return the first value passed in that equals *value*."""
        return self._values.setdefault(value, value)  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool definition as it was registered, identified by its digest.

    The digest is that of the canonical JSON, so texts that differ in whitespace or in the
    order of properties have the same one.
    """

    #: "sha256:" and the hexadecimal SHA-256 of the canonical JSON.
    digest: str
    #: The name that the definition gives to the tool.
    name: str
    #: The text, byte for byte as it was sent, since property order matters to models.
    json: bytes
    #: The documents that its schemas may refer to.
    documents: tuple[Document, ...]
    #: The digest of its input schema.
    input_schema_digest: str
    #: The digest of its output schema, if it has one.
    output_schema_digest: str | None
    #: The protocol version under which it was registered.
    protocol_version: str

    @property
    def size(self) -> int:
        """Bytes of the JSON texts of the definition and its documents."""
        return len(self.json) + sum(len(document.json) for document in self.documents)

    @property
    def stored_size(self) -> int:
        """Bytes that quotas count: the size, and the URIs of the documents."""
        uris = sum(len(document.uri.encode("utf-8", "replace")) for document in self.documents)
        return self.size + uris


@dataclass(frozen=True, slots=True)
class Binding:
    """A name in the namespace of a server, and the definition to which it is bound."""

    server: str
    #: The definition; its name is the bound name.
    definition: Definition
    #: The revision of the registry that bound the name to the definition.
    revision: int

    @property
    def name(self) -> str:
        """The bound name."""
        return self.definition.name


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one transaction: bindings in the namespace of one server."""

    #: The revision of the registry after the change.
    revision: int
    server: str
    #: The names that the change removed, sorted.
    unbound: tuple[str, ...]
    #: The bindings that the change added or replaced, sorted by name.
    bound: tuple[Binding, ...]
    #: Whether this is the difference of two states of the registry for this server, because
    #: the changes between them are unknown, or because the registry was restored to an earlier
    #: state. All such changes have the revision of the later state, which may be lower than the
    #: revision before.
    is_reload: bool = False
    #: Whether another change of the same reload follows at once.
    is_continued: bool = False
    #: Its identity. A revision alone does not identify a change if the registry was restored.
    id: UUID = field(default_factory=uuid4, compare=False)


class Action(StrEnum):
    """Effect of registering a definition on its name."""

    CREATED = "created"
    """The name was not bound."""
    CHANGED = "changed"
    """The name was bound to a definition of another digest or protocol version."""
    UNCHANGED = "unchanged"
    """The name stays bound to a definition of the same digest and protocol version."""


@dataclass(frozen=True, slots=True)
class BindingResult:
    """Result of binding a definition."""

    action: Action
    #: The digest to which the name was bound before, or None if it was not bound.
    previous_digest: str | None


@dataclass(frozen=True, slots=True)
class RegistrationResult:
    """Result of a registration."""

    #: In the order of the definitions.
    bound: tuple[BindingResult, ...]
    #: The names that were removed because the registration lacks them, sorted.
    removed: tuple[str, ...]
    #: The revision of the registry afterwards.
    revision: int


@dataclass(frozen=True, slots=True)
class RemovalResult:
    """Result of a removal."""

    #: The names that were removed, sorted.
    deleted: tuple[str, ...]
    #: The names that were not bound, sorted.
    unknown: tuple[str, ...]
    #: The revision of the registry afterwards.
    revision: int
