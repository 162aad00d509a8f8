"""What a registry on PostgreSQL tells those who operate it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Reconnected",
    "RegistryEvent",
    "RegistryReloaded",
    "RejectedDatabase",
    "ReportEvent",
    "TermUnreadable",
    "Unreachable",
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
