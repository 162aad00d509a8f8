"""What is answered to checks by the rules of the protocol, and the rules themselves."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from sidecheck.errors import SidecheckError
from sidecheck.texts import NO_TEXT, JsonText
from sidecheck.verdicts import Verdict
from sidecheck.violations import Severity

__all__ = [
    "CheckOutcome",
    "CheckResult",
    "CheckedNames",
    "CheckedTools",
    "Disposition",
    "NameCollision",
    "Rule",
    "ToolNameOutcome",
    "ToolOutcome",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of the protocol, or advice of a provider of models."""

    #: The code of its violations.
    code: str
    #: How grave a violation is.
    severity: Severity
    #: The protocol versions that have it, oldest first.
    protocol_versions: tuple[str, ...]
    #: The clause that it comes from, as it stands in the newest of its versions.
    clause: str
    #: What must be so, in one sentence.
    sentence: str
    #: The types of the protocol's schema whose values it judges.
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The answer to one thing that was checked."""

    #: What was found. Instance pointers lead into the JSON that was sent.
    verdict: Verdict
    #: For a message with an error: the JSON-RPC response to send to its sender, whole.
    #: Empty if none is due: notifications and responses have no answer.
    reply: JsonText = NO_TEXT


#: What became of one thing of many.
CheckOutcome: TypeAlias = CheckResult | SidecheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNameOutcome:
    """The answer to one name of a tool."""

    #: What was found. Pointers are empty: the name is the whole.
    verdict: Verdict
    #: Whether the Python SDK holds the name for valid: 1 to 128 of ``A-Za-z0-9_.-``.
    sdk_valid: bool
    #: What the Python SDK warns of, word for word and in its order.
    sdk_warnings: tuple[str, ...]
    #: What the name becomes where only ``A-Za-z0-9_-`` and 64 characters are allowed.
    sanitized: str


@dataclass(frozen=True, slots=True)
class NameCollision:
    """Names that become the same where fewer characters are allowed."""

    #: What they become.
    sanitized: str
    #: Where they stand among the names given, from 0.
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckedNames:
    """The answer to names of tools."""

    #: One for each name, in order.
    outcomes: tuple[ToolNameOutcome, ...]
    #: Names that become the same.
    collisions: tuple[NameCollision, ...]


class Disposition(StrEnum):
    """What a client that keeps to the rules does with a tool."""

    #: It takes the tool.
    KEEP = "keep"
    #: It takes the tool; the violations are worth a look.
    WARN = "warn"
    #: It leaves the tool out, and takes the others.
    DROP = "drop"
    #: Something that this release of the client has no word for.
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """The answer to one tool definition."""

    #: The tool's name, or "" if the definition has none.
    name: str
    #: Where the definition stands, as a JSON Pointer into the listing. "" for
    #: definitions that were given one by one.
    pointer: str
    #: What to do with the tool.
    disposition: Disposition
    #: All that was found. Instance pointers lead into the definition.
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """The answer to tool definitions."""

    #: One for each definition, in order.
    outcomes: tuple[ToolOutcome, ...]
    #: What is wrong with the listing outside of the definitions.
    listing: Verdict
