"""What the registry answers: registered tools and what became of registrations."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from sidecheck.targets import Document
from sidecheck.violations import Violation

__all__ = ["Action", "ChangePolicy", "Deletion", "Outcome", "Registration", "Tool"]

#: What becomes of a tool whose definition differs from the registered one: the
#: name is bound to the new one ("accept"), also with a warning ("report"), or it
#: stays bound to the old one and the outcome has an error ("refuse").
ChangePolicy: TypeAlias = Literal["accept", "report", "refuse"]


class Action(StrEnum):
    """What happened to one definition, or with ``validate_only`` would have happened."""

    #: The name was not bound before.
    CREATED = "created"
    #: The name was bound to another definition before.
    CHANGED = "changed"
    #: The name was bound to this very definition before.
    UNCHANGED = "unchanged"
    #: The definition was not registered; the problems say why.
    REFUSED = "refused"
    #: Something that this release of the client has no word for.
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What happened to one definition of a registration."""

    #: The tool's name, or "" if the definition has none.
    name: str
    action: Action
    #: What is wrong with the definition. Only an error refuses it.
    violations: tuple[Violation, ...] = ()
    #: The digest of the definition, or "" if it is not JSON.
    definition_digest: str = ""
    #: The digest of its input schema, or "" if refused.
    input_schema_digest: str = ""
    #: The digest of its output schema, or "" if refused or if it has none.
    output_schema_digest: str = ""
    #: The digest that the name was bound to before, or "".
    previous_definition_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What became of a registration as a whole."""

    #: One outcome per definition, in the order given.
    outcomes: tuple[Outcome, ...] = ()
    #: The names that a replacement removed.
    removed: tuple[str, ...] = ()
    #: The revision of the registry afterwards.
    registry_revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool known to the registry."""

    #: The namespace of its server.
    server: str
    name: str
    #: The definition, byte for byte as registered.
    json: bytes
    #: The documents that came with it, as text.
    documents: tuple[Document, ...] = ()
    definition_digest: str = ""
    input_schema_digest: str = ""
    #: "" if it has no output schema.
    output_schema_digest: str = ""
    #: The revision of the registry at which the name was bound to the definition.
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What became of a removal."""

    #: The names that were removed, in order.
    deleted: tuple[str, ...] = ()
    #: The names that were not registered.
    unknown: tuple[str, ...] = ()
    #: The revision of the registry afterwards.
    registry_revision: int = 0
