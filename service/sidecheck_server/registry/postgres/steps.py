"""Steps of a registry's history, its state, and events of its connection."""

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
    "are_consecutive",
]


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The database cannot be followed; reads may be out of date."""

    #: The location, the cause and the remedy.
    detail: str


@dataclass(frozen=True, slots=True)
class RejectedDatabase:
    """The database is older than one seen before, or another: as if unreachable."""

    #: The location, the fault and the remedy.
    detail: str


@dataclass(frozen=True, slots=True)
class TermUnreadable:
    """The role may not execute functions that identify the term of the database."""

    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The database is followed again, after `Unreachable` or `RejectedDatabase`."""

    #: Seconds for which reads may have been out of date.
    seconds: float
    revision: int


@dataclass(frozen=True, slots=True)
class RegistryReloaded:
    """The registry was read as a whole, since its history is too short."""

    previous_revision: int
    revision: int


RegistryEvent: TypeAlias = (
    Unreachable | RejectedDatabase | TermUnreadable | Reconnected | RegistryReloaded
)
ReportEvent: TypeAlias = Callable[[RegistryEvent], None]


@dataclass(frozen=True, slots=True)
class Term:
    """Identity of a primary among earlier ones; None for a part that cannot be read."""

    #: The system identifier, which all copies of a cluster share.
    system: int | None
    #: Incremented whenever a standby is promoted; None for a standby.
    timeline: int | None


@dataclass(frozen=True, slots=True)
class Head:
    """State of a registry: its layout, epoch and last change."""

    #: The version of the layout of its tables.
    layout: int
    epoch: UUID
    revision: int
    change_id: UUID
    #: The term of the database. Not compared, since a promotion alone does not change a registry.
    term: Term = field(compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """A change, and the identity of the previous one."""

    previous_id: UUID
    change: Change

    @property
    def id(self) -> UUID:
        """The identity of the change."""
        return self.change.id


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole content of a registry at one revision."""

    head: Head
    bindings: Sequence[Binding]
    #: Former bindings that the history refers to.
    superseded: Sequence[Binding]
    #: The history, without gaps, up to the head.
    steps: Sequence[Step]

    def catalogue(self) -> Catalogue:
        """Return the bindings as a catalogue."""
        return Catalogue.of(self.head.revision, self.bindings, self.head.change_id)


def are_consecutive(steps: Sequence[Step], head: Head) -> bool:
    """Return whether *steps* follow *head* and each other without gaps."""
    ids = [head.change_id, *(step.id for step in steps)]
    first = head.revision + 1
    return [step.previous_id for step in steps] == ids[:-1] and [
        step.change.revision for step in steps
    ] == list(range(first, first + len(steps)))
