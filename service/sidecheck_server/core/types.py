"""The values that the judge answers with: verdicts and their violations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias, Union

__all__ = [
    "RANK",
    "Change",
    "ChangeRule",
    "Document",
    "JsonValue",
    "Repair",
    "Severity",
    "Verdict",
    "Violation",
    "as_pointer",
]

#: A JSON text, decoded. Integers are exact; other numbers are IEEE doubles.
JsonValue: TypeAlias = Union[dict[str, "JsonValue"], list["JsonValue"], str, int, float, bool, None]


def as_pointer(path: Iterable[str | int]) -> str:
    """Return the JSON Pointer that leads along *path* (RFC 6901, section 3)."""
    return "".join([f"/{_escaped(step) if type(step) is str else step}" for step in path])


def _escaped(step: str) -> str:
    if "~" in step or "/" in step:
        return step.replace("~", "~0").replace("/", "~1")
    return step


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document, given along with a schema, that its references may point to."""

    #: The absolute URI under which references find it.
    uri: str
    #: Its JSON text in UTF-8.
    json: bytes


class Severity(StrEnum):
    """How grave a violation is. Only an error makes a verdict invalid."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


RANK: Mapping[Severity, int] = MappingProxyType(
    {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
)
"""How grave each severity is: 0 is the gravest."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a payload or a definition breaks a rule."""

    #: Where, as a JSON Pointer into what was judged; a missing property is
    #: reported at the object that lacks it, an unknown one at itself.
    instance_location: str
    #: Which part of the schema, as a JSON Pointer along the path of evaluation.
    keyword_location: str
    #: The JSON Schema keyword that failed, or "" where there is none.
    keyword: str
    #: The stable code of the rule, in upper snake case.
    code: str
    #: What was expected and what was found, for a person.
    message: str
    severity: Severity = Severity.ERROR
    #: The nearest known name or value, or "".
    suggestion: str = ""
    #: The clause of the specification that the rule comes from, or "".
    clause: str = ""

    @property
    def length(self) -> int:
        """How many characters its texts have together."""
        return (
            len(self.instance_location)
            + len(self.keyword_location)
            + len(self.message)
            + len(self.suggestion)
            + len(self.clause)
        )

    def order(self) -> tuple[str, str, str, str]:
        """Return the key by which violations are sorted in a verdict."""
        return (self.instance_location, self.keyword_location, self.code, self.message)


class ChangeRule(StrEnum):
    """Why a value was changed, or was not."""

    JSON_STRING_DECODED = "JSON_STRING_DECODED"
    STRING_TO_INTEGER = "STRING_TO_INTEGER"
    STRING_TO_NUMBER = "STRING_TO_NUMBER"
    STRING_TO_BOOLEAN = "STRING_TO_BOOLEAN"
    NUMBER_TO_STRING = "NUMBER_TO_STRING"
    BOOLEAN_TO_STRING = "BOOLEAN_TO_STRING"
    UNKNOWN_PROPERTY_REMOVED = "UNKNOWN_PROPERTY_REMOVED"
    DEFAULT_APPLIED = "DEFAULT_APPLIED"
    #: The one rule by which nothing changes.
    DEFAULT_SKIPPED = "DEFAULT_SKIPPED"
    # What conversion did to a payload, and is undone.
    SYNTHETIC_NULL_REMOVED = "SYNTHETIC_NULL_REMOVED"
    ENTRIES_JOINED = "ENTRIES_JOINED"
    JSON_TEXT_DECODED = "JSON_TEXT_DECODED"
    ROOT_UNWRAPPED = "ROOT_UNWRAPPED"


@dataclass(frozen=True, slots=True)
class Change:
    """One value of a payload that was changed, removed, or put in, or a default that was not."""

    #: Where, as a JSON Pointer. What was removed stood there before; of a default
    #: that was skipped, it is where the default would stand.
    pointer: str
    rule: ChangeRule
    #: The part of the schema that asked for it, as a JSON Pointer along the path of
    #: evaluation.
    keyword_location: str
    #: What was done, for a person.
    message: str


@dataclass(frozen=True, slots=True)
class Repair:
    """A payload after the changes that were asked for."""

    #: Its JSON text in UTF-8.
    payload: bytes
    #: The verdict on it.
    verdict: "Verdict"
    changes: tuple[Change, ...]

    @property
    def length(self) -> int:
        """How much text it holds, about."""
        violations = sum(found.length for found in self.verdict.violations)
        return len(self.payload) + violations + sum(map(_length_of_change, self.changes))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a question of validity: the violations that were found."""

    #: Sorted by `Violation.order`.
    violations: tuple[Violation, ...] = ()
    #: Whether more violations may exist than are listed.
    truncated: bool = False
    #: What the payload becomes, if that was asked for and there was anything to do.
    repair: Repair | None = None

    @property
    def valid(self) -> bool:
        """Whether no violation of severity error was found."""
        return not self.violations or not any(
            found.severity is Severity.ERROR for found in self.violations
        )

    @classmethod
    def listing(cls, found: Sequence[Violation], *, truncated: bool = False) -> "Verdict":
        """Return the verdict that lists *found* in order."""
        return cls(tuple(sorted(found, key=Violation.order)), truncated)


def _length_of_change(change: Change) -> int:
    return len(change.pointer) + len(change.keyword_location) + len(change.message)
