"""Results of a comparison: changes, verdicts, and outcomes of tools and sets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Generic, TypeVar

__all__ = [
    "LEVELS",
    "Change",
    "Direction",
    "Effect",
    "Level",
    "Part",
    "PerReading",
    "Reading",
    "Relation",
    "SchemaComparison",
    "SchemaVerdict",
    "SetComparison",
    "ToolComparison",
    "ToolStatus",
    "Witness",
    "worst_level",
]

_Value = TypeVar("_Value")


class Level(StrEnum):
    """Impact of a change on callers."""

    BREAKING = "breaking"
    """An accepted payload becomes invalid, or a tool can no longer be called."""
    UNDECIDED = "undecided"
    """Neither a proof nor a payload that shows the contrary was found."""
    RISKY = "risky"
    """The same payloads pass, and something that callers rely on may differ."""
    COMPATIBLE = "compatible"
    """Every payload that passed still passes."""
    COSMETIC = "cosmetic"
    """Only texts for people and models, or data that asserts nothing, differ."""


LEVELS: tuple[Level, ...] = tuple(Level)
"""The levels, the worst first."""

_RANK: Mapping[Level, int] = MappingProxyType({level: rank for rank, level in enumerate(LEVELS)})


def worst_level(levels: Iterable[Level]) -> Level:
    """Return the worst of *levels*, and `COSMETIC` if there is none."""
    return min(levels, key=_RANK.__getitem__, default=Level.COSMETIC)


class Reading(StrEnum):
    """Interpretation of objects that a schema leaves open."""

    AS_WRITTEN = "as-written"
    """As JSON Schema says: an open object admits properties that it does not declare."""
    ASSUME_CLOSED = "assume-closed"
    """An object that declares properties admits no others, unless the schema says so.

    Arguments and results then have only declared properties, and arguments with others are
    rejected. Readers of results still accept unknown properties.
    """


@dataclass(frozen=True, slots=True)
class PerReading(Generic[_Value]):
    """A value for each reading."""

    as_written: _Value
    assume_closed: _Value

    def of(self, reading: Reading) -> _Value:
        """Return the value for *reading*."""
        return self.as_written if reading is Reading.AS_WRITTEN else self.assume_closed


class Part(StrEnum):
    """Part of a definition that changed."""

    TOOL = "tool"
    INPUT = "inputSchema"
    OUTPUT = "outputSchema"


class Direction(StrEnum):
    """Effect of a change on the set of values that its subschema admits."""

    NARROWER = "narrower"
    WIDER = "wider"
    BOTH = "both"
    """Some values are added, others removed."""
    UNKNOWN = "unknown"
    """The effect depends on the rest of the schema."""
    NONE = "none"
    """The changed keyword asserts nothing."""

    @property
    def reversed(self) -> "Direction":
        """The direction under ``not``."""
        return _REVERSED.get(self, self)


_REVERSED: Mapping[Direction, Direction] = MappingProxyType(
    {Direction.NARROWER: Direction.WIDER, Direction.WIDER: Direction.NARROWER}
)


class Relation(StrEnum):
    """Relation of the set of admitted values to the old set."""

    EQUAL = "equal"
    WIDENED = "widened"
    """The new set contains the old one, and is not known to be equal."""
    NARROWED = "narrowed"
    """The old set contains the new one, and is not known to be equal."""
    INCOMPARABLE = "incomparable"
    """Neither set is proved to contain the other, and a payload shows a difference."""
    UNDECIDED = "undecided"
    """Whether it breaks callers is undecided."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Payload that one version of a schema accepts and the other rejects.

    `core.evaluate` gives both verdicts. The old version of an input schema accepts the payload,
    and the new version of an output schema.
    """

    #: JSON text.
    payload: bytes
    #: First violation: its message, and the locations of the value and the keyword.
    message: str
    instance_location: str
    keyword_location: str


@dataclass(frozen=True, slots=True)
class Effect:
    """Impact of a change in one reading."""

    level: Level
    #: A payload that this change makes invalid; None if none was found.
    witness: Witness | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Difference between two definitions."""

    #: Code of a rule of `core.compat.rules`.
    code: str
    part: Part
    effects: PerReading[Effect]
    #: JSON Pointers into the old and the new definition; None on the side that lacks it.
    old_location: str | None
    new_location: str | None
    #: The keyword of the schema, or "".
    keyword: str
    direction: PerReading[Direction]
    message: str
    #: Shortened values, or "".
    old_value: str = ""
    new_value: str = ""


@dataclass(frozen=True, slots=True)
class SchemaVerdict:
    """Whether a change of a schema breaks callers, in one reading."""

    relation: Relation
    level: Level
    #: Why it is undecided, or "".
    reason: str = ""
    #: The payload that shows that it breaks callers.
    witness: Witness | None = None


@dataclass(frozen=True, slots=True)
class SchemaComparison:
    """Verdicts on the change of one schema."""

    part: Part
    verdicts: PerReading[SchemaVerdict]


class ToolStatus(StrEnum):
    """Status of a tool in a comparison."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class ToolComparison:
    """Outcome of one tool."""

    status: ToolStatus
    #: Name of the tool; the new one if it was renamed.
    name: str
    #: Old name of a renamed tool; otherwise "".
    old_name: str = ""
    old_digest: str = ""
    new_digest: str = ""
    changes: tuple[Change, ...] = ()
    #: The schemas that differ.
    schemas: tuple[SchemaComparison, ...] = ()
    #: Steps of the comparison, from processor time; not a part of the outcome.
    steps: int = field(default=0, compare=False, repr=False)

    def level(self, reading: Reading) -> Level:
        """Return the worst level of its schemas and changes in *reading*."""
        levels = [change.effects.of(reading).level for change in self.changes]
        levels += [schema.verdicts.of(reading).level for schema in self.schemas]
        return worst_level(levels)


@dataclass(frozen=True, slots=True)
class SetComparison:
    """Outcomes of two sets of tools."""

    #: The new tools in their order, and then the removed ones.
    tools: tuple[ToolComparison, ...] = field(default=())

    @property
    def differs(self) -> bool:
        """Whether any tool differs."""
        return any(tool.status is not ToolStatus.UNCHANGED for tool in self.tools)

    def level(self, reading: Reading) -> Level:
        """Return the worst level of the tools in *reading*."""
        return worst_level(tool.level(reading) for tool in self.tools)
