"""Values of the core: JSON, drafts, documents, verdicts, violations and repairs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import TypeAlias, Union

__all__ = [
    "SEVERITY_RANK",
    "Change",
    "ChangeRule",
    "Document",
    "Draft",
    "JsonValue",
    "Repair",
    "Severity",
    "Verdict",
    "Violation",
    "as_pointer",
    "pointer_steps",
]

#: A decoded JSON text. Numbers keep their exact value: as int, as float, or as the subclass
#: `ExactNumber` of float.
JsonValue: TypeAlias = Union[dict[str, "JsonValue"], list["JsonValue"], str, int, float, bool, None]


def as_pointer(path: Iterable[str | int]) -> str:
    """Return *path* as a JSON Pointer (RFC 6901, section 3)."""
    return "".join([f"/{_escape(step) if type(step) is str else step}" for step in path])


def pointer_steps(pointer: str) -> list[str]:
    """Return the steps of a JSON Pointer, unescaped (RFC 6901, section 4)."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _escape(step: str) -> str:
    if "~" in step or "/" in step:
        return step.replace("~", "~0").replace("/", "~1")
    return step


class Draft(Enum):
    """The supported drafts of JSON Schema, oldest first."""

    DRAFT_04 = 4
    DRAFT_06 = 6
    DRAFT_07 = 7
    DRAFT_2019_09 = 8
    DRAFT_2020_12 = 9


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document sent along with a schema, as a target of its references."""

    #: The absolute URI by which references name it.
    uri: str
    #: Its JSON text in UTF-8.
    json: bytes


class Severity(StrEnum):
    """Severity of a violation. Only errors make a verdict invalid."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


SEVERITY_RANK: Mapping[Severity, int] = MappingProxyType(
    {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
)
"""Rank of each severity; 0 is the most severe."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One failed rule at one location of a payload or a definition."""

    #: JSON Pointer into the validated value. A missing property is reported at the
    #: object that lacks it, an unknown property at itself.
    instance_location: str
    #: JSON Pointer into the schema, along the path of evaluation.
    keyword_location: str
    #: The JSON Schema keyword that failed, or "" if none.
    keyword: str
    #: The stable code of the rule, in upper snake case.
    code: str
    #: Expected and actual value, for people.
    message: str
    severity: Severity = Severity.ERROR
    #: The nearest known name or value, or "".
    suggestion: str = ""
    #: The clause of the specification that has the rule, or "".
    spec_url: str = ""
    #: Offset of a JSON syntax fault, in bytes; None for all other violations.
    offset: int | None = field(default=None, compare=False)

    @property
    def length(self) -> int:
        """Length of its texts, in characters."""
        return (
            len(self.instance_location)
            + len(self.keyword_location)
            + len(self.message)
            + len(self.suggestion)
            + len(self.spec_url)
        )

    def order(self) -> tuple[str, str, str, str]:
        """Return the key by which a verdict sorts its violations."""
        return (self.instance_location, self.keyword_location, self.code, self.message)


class ChangeRule(StrEnum):
    """The rule by which a value was changed, or a default was skipped."""

    JSON_STRING_DECODED = "JSON_STRING_DECODED"
    STRING_TO_INTEGER = "STRING_TO_INTEGER"
    STRING_TO_NUMBER = "STRING_TO_NUMBER"
    STRING_TO_BOOLEAN = "STRING_TO_BOOLEAN"
    NUMBER_TO_STRING = "NUMBER_TO_STRING"
    BOOLEAN_TO_STRING = "BOOLEAN_TO_STRING"
    EMPTY_OPTIONAL_REMOVED = "EMPTY_OPTIONAL_REMOVED"
    UNKNOWN_PROPERTY_REMOVED = "UNKNOWN_PROPERTY_REMOVED"
    DEFAULT_APPLIED = "DEFAULT_APPLIED"
    #: The only rule that changes nothing.
    DEFAULT_SKIPPED = "DEFAULT_SKIPPED"
    # Changes that undo a conversion.
    SYNTHETIC_NULL_REMOVED = "SYNTHETIC_NULL_REMOVED"
    ENTRIES_JOINED = "ENTRIES_JOINED"
    JSON_TEXT_DECODED = "JSON_TEXT_DECODED"
    ROOT_UNWRAPPED = "ROOT_UNWRAPPED"


@dataclass(frozen=True, slots=True)
class Change:
    """One value of a payload that was changed, removed or added, or a skipped default."""

    #: JSON Pointer to the value: of a removed value in the original payload; of a skipped
    #: default to the property that it would have added.
    pointer: str
    rule: ChangeRule
    #: JSON Pointer to the part of the schema that caused the change, along the path of
    #: evaluation.
    keyword_location: str
    #: Description of the change, for people.
    message: str

    @property
    def length(self) -> int:
        """Length of its texts, in characters."""
        return len(self.pointer) + len(self.keyword_location) + len(self.message)


@dataclass(frozen=True, slots=True)
class Repair:
    """A payload after the requested changes."""

    #: Its JSON text in UTF-8.
    payload: bytes
    #: The verdict on it.
    verdict: "Verdict"
    changes: tuple[Change, ...]

    @property
    def length(self) -> int:
        """Approximate length of its texts, in characters."""
        violations = sum(violation.length for violation in self.verdict.violations)
        return len(self.payload) + violations + sum(change.length for change in self.changes)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of a validation."""

    #: Sorted by `Violation.order`.
    violations: tuple[Violation, ...] = ()
    #: Whether there may be more violations than those listed.
    truncated: bool = False
    #: The repaired payload, if a repair was requested and there was something to change.
    repair: Repair | None = None
    #: Steps that `core.evaluate.evaluate` took; not compared.
    steps: int = field(default=0, compare=False, repr=False)

    @property
    def valid(self) -> bool:
        """Whether no violation has severity error."""
        return not self.violations or not any(
            violation.severity is Severity.ERROR for violation in self.violations
        )

    @classmethod
    def listing(cls, violations: Sequence[Violation], *, truncated: bool = False) -> "Verdict":
        """Return the verdict with *violations*, sorted by `Violation.order`."""
        return cls(tuple(sorted(violations, key=Violation.order)), truncated)
