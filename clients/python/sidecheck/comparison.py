"""Values of a comparison of tools: the changes, and whether they break callers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from sidecheck.verdicts import JsonText

__all__ = [
    "ChangeEffect",
    "ChangeLevel",
    "Comparison",
    "CompatibilityPolicy",
    "DefinitionChange",
    "DefinitionPart",
    "SchemaComparison",
    "SchemaReading",
    "SchemaRelation",
    "SchemaVerdict",
    "ServerTools",
    "ToolComparison",
    "ToolStatus",
    "Witness",
]

#: Reading of a schema that leaves an object open. In "assume-closed", an object that declares
#: properties admits no others, which most authors mean; "as-written" follows JSON Schema.
SchemaReading: TypeAlias = Literal["assume-closed", "as-written"]

#: Policy for a definition that is not compatible with the registered one: do not compare
#: ("ignore"), register it with a warning ("report"), reject it if it breaks callers
#: ("reject-breaking"), or also if that is undecided ("reject-undecided").
CompatibilityPolicy: TypeAlias = Literal["ignore", "report", "reject-breaking", "reject-undecided"]


class ChangeLevel(StrEnum):
    """Effect of a change on callers, in increasing order."""

    #: Only texts for people and models, or data that asserts nothing, differ.
    COSMETIC = "cosmetic"
    #: Every payload that was valid is provably still valid.
    COMPATIBLE = "compatible"
    #: The same payloads are valid, but something else on which callers rely may differ.
    RISKY = "risky"
    #: Neither a proof of compatibility nor a counterexample was found.
    UNDECIDED = "undecided"
    #: A valid payload became invalid, results may have values that callers do not expect, or
    #: the tool can no longer be called by its name.
    BREAKING = "breaking"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


class SchemaRelation(StrEnum):
    """Change of the set of values that a schema admits."""

    EQUAL = "equal"
    #: The old values, and possibly others.
    WIDENED = "widened"
    #: A subset of the old values.
    NARROWED = "narrowed"
    INCOMPARABLE = "incomparable"
    UNDECIDED = "undecided"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


class DefinitionPart(StrEnum):
    """Part of a definition."""

    TOOL = "tool"
    INPUT_SCHEMA = "input-schema"
    OUTPUT_SCHEMA = "output-schema"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


class ToolStatus(StrEnum):
    """Status of a tool in the new set."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True)
class ServerTools:
    """Registered tools of a server, to compare."""

    #: Namespace of the server.
    server: str
    #: Names of the tools; empty for all.
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A payload that one version of a schema accepts and the other rejects."""

    payload: JsonText
    #: Reason for the rejection.
    message: str
    #: JSON Pointer into the payload.
    instance_location: str = ""
    #: JSON Pointer into the schema.
    keyword_location: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaVerdict:
    """Whether the change of a schema breaks callers, in one reading."""

    relation: SchemaRelation
    level: ChangeLevel
    #: Reason if the change is undecided, or "".
    reason: str = ""
    #: A payload that proves that the change breaks callers, or None.
    witness: Witness | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaComparison:
    """Verdicts on the change of one schema, in both readings."""

    part: DefinitionPart
    assume_closed: SchemaVerdict
    as_written: SchemaVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEffect:
    """Effect of a change in one reading."""

    level: ChangeLevel
    #: A payload that the change makes invalid, if one was found.
    witness: Witness | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionChange:
    """One difference between two definitions."""

    #: Stable code in upper snake case, for example ``MAXIMUM_LOWERED``.
    code: str
    part: DefinitionPart
    message: str
    assume_closed: ChangeEffect
    as_written: ChangeEffect
    #: The keyword of the schema, or "".
    keyword: str = ""
    #: JSON Pointers into the old and the new definition; None on the side that lacks it.
    old_location: str | None = None
    new_location: str | None = None
    #: The values, shortened, or "".
    old_value: str = ""
    new_value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolComparison:
    """Comparison of the definitions of one tool."""

    status: ToolStatus
    #: Name of the tool; the new name if it was renamed.
    name: str
    #: Worst level in each reading.
    assume_closed: ChangeLevel
    as_written: ChangeLevel
    #: The old name if the tool was renamed, or "".
    old_name: str = ""
    old_definition_digest: str = ""
    new_definition_digest: str = ""
    #: The schemas that differ.
    schemas: tuple[SchemaComparison, ...] = ()
    changes: tuple[DefinitionChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Comparison of two sets of tools."""

    #: The new tools in their order, followed by the removed tools.
    tools: tuple[ToolComparison, ...] = ()
    #: Worst level of all tools, in the requested reading.
    level: ChangeLevel
    #: Revision of the registry in which registered tools were read.
    registry_revision: int = 0

    @property
    def differs(self) -> bool:
        """Whether any tool differs."""
        return any(tool.status is not ToolStatus.UNCHANGED for tool in self.tools)
