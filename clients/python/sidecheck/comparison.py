"""Values of a comparison of tools: what changed, and whether it breaks callers."""

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

#: How a schema that leaves an object open is read: an object that declares properties admits
#: no others ("assume-closed"), as most authors mean it, or as JSON Schema says ("as-written").
SchemaReading: TypeAlias = Literal["assume-closed", "as-written"]

#: Policy for a definition that is not compatible with the registered one: do not compare
#: ("ignore"), register it with a warning ("report"), reject it if it breaks callers
#: ("reject-breaking"), or also if that is undecided ("reject-undecided").
CompatibilityPolicy: TypeAlias = Literal["ignore", "report", "reject-breaking", "reject-undecided"]


class ChangeLevel(StrEnum):
    """What a change means for callers, the least first."""

    #: Only texts for people and models, or data that asserts nothing, differ.
    COSMETIC = "cosmetic"
    #: Every payload that passed still passes: this is proved.
    COMPATIBLE = "compatible"
    #: The same payloads pass, and something that callers rely on may differ.
    RISKY = "risky"
    #: Neither a proof nor a payload that shows the contrary was found.
    UNDECIDED = "undecided"
    #: A payload that was valid no longer is, a result may be what callers do not expect, or
    #: the tool cannot be called any more.
    BREAKING = "breaking"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


class SchemaRelation(StrEnum):
    """How the set of values that a schema admits has changed."""

    EQUAL = "equal"
    #: All values that it admitted, and maybe others.
    WIDENED = "widened"
    #: No value that it did not admit, and maybe fewer.
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
    """What became of a tool."""

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
    #: Why it is rejected.
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
    #: Why it is undecided, or "".
    reason: str = ""
    #: The payload that shows that it breaks callers.
    witness: Witness | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaComparison:
    """Verdicts on the change of one schema, in both readings."""

    part: DefinitionPart
    assume_closed: SchemaVerdict
    as_written: SchemaVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEffect:
    """What a change means in one reading."""

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
    #: Its name; of a renamed tool the new one.
    name: str
    #: Worst level in each reading.
    assume_closed: ChangeLevel
    as_written: ChangeLevel
    #: Its name before, if it was renamed; otherwise "".
    old_name: str = ""
    old_definition_digest: str = ""
    new_definition_digest: str = ""
    #: The schemas that differ.
    schemas: tuple[SchemaComparison, ...] = ()
    changes: tuple[DefinitionChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Comparison of two sets of tools."""

    #: The new tools in their order, and then those that were removed.
    tools: tuple[ToolComparison, ...] = ()
    #: Worst level of all tools, in the reading that was asked for.
    level: ChangeLevel
    #: Revision of the registry in which registered tools were read.
    registry_revision: int = 0

    @property
    def differs(self) -> bool:
        """Whether any tool differs."""
        return any(tool.status is not ToolStatus.UNCHANGED for tool in self.tools)
