"""What a registry on PostgreSQL tells those who operate it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Reconnected", "RegistryEvent", "RegistryReloaded", "ReportEvent", "Unreachable"]


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The database cannot be followed; what is read may be older than what it has."""

    #: Where it is, why, and what would help.
    detail: str


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The database is followed again, after `Unreachable`."""

    #: How long what was read may have been outdated.
    seconds: float
    revision: int


@dataclass(frozen=True, slots=True)
class RegistryReloaded:
    """The registry was read as a whole: its history does not lead on from what was read."""

    previous_revision: int
    #: Lower, if the database was set back.
    revision: int


RegistryEvent: TypeAlias = Unreachable | Reconnected | RegistryReloaded
ReportEvent: TypeAlias = Callable[[RegistryEvent], None]
