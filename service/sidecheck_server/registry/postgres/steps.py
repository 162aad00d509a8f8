"""Steps of a registry's history, and the state that they lead to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from uuid import UUID

from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Binding, Change

__all__ = [
    "Head",
    "Reconnected",
    "RegistryEvent",
    "RegistryReloaded",
    "RejectedDatabase",
    "ReportEvent",
    "Snapshot",
    "Step",
    "Term",
    "TermUnreadable",
    "Unreachable",
    "leads_on",
]


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The database cannot be followed; what is read may be older than what it has."""

    #: Where it is, why, and what would help.
    detail: str


@dataclass(frozen=True, slots=True)
class RejectedDatabase:
    """The database is older than the one seen before, or another; it is treated as unreachable."""

    #: Where it is, what is older, and what would help.
    detail: str


@dataclass(frozen=True, slots=True)
class TermUnreadable:
    """The role may not execute functions that tell a database from older ones."""

    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The database is followed again, after `Unreachable` or `RejectedDatabase`."""

    #: How long what was read may have been outdated.
    seconds: float
    revision: int


@dataclass(frozen=True, slots=True)
class RegistryReloaded:
    """The registry was read as a whole: its history does not reach back to what was read."""

    previous_revision: int
    revision: int


RegistryEvent: TypeAlias = (
    Unreachable | RejectedDatabase | TermUnreadable | Reconnected | RegistryReloaded
)
ReportEvent: TypeAlias = Callable[[RegistryEvent], None]


@dataclass(frozen=True, slots=True)
class Term:
    """What tells a primary from those before it; None for what cannot be read."""

    #: The system identifier, which all copies of a cluster share.
    system: int | None
    #: Incremented whenever a standby is promoted; None of a standby.
    timeline: int | None


@dataclass(frozen=True, slots=True)
class Head:
    """The state of a registry: what the last change was."""

    #: The version of the layout of its tables.
    layout: int
    epoch: UUID
    revision: int
    change_id: UUID
    #: Of the database that it was read from. A promotion alone changes no registry.
    term: Term = field(compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """A change, and the identity of the one before."""

    previous_id: UUID
    change: Change

    @property
    def id(self) -> UUID:
        """The identity of the change."""
        return self.change.id


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All of a registry at one revision."""

    head: Head
    bindings: Sequence[Binding]
    #: Bindings of the history that are no longer.
    superseded: Sequence[Binding]
    #: The history, without gaps, up to the head.
    steps: Sequence[Step]

    def catalogue(self) -> Catalogue:
        """Return the bindings as a catalogue."""
        return Catalogue.of(self.head.revision, self.bindings, self.head.change_id)


def leads_on(steps: Sequence[Step], head: Head) -> bool:
    """Return whether *steps* lead on from *head*, one after the other."""
    ids = [head.change_id, *(step.id for step in steps)]
    first = head.revision + 1
    return [step.previous_id for step in steps] == ids[:-1] and [
        step.change.revision for step in steps
    ] == list(range(first, first + len(steps)))
