"""The values that the judge answers with: verdicts and their violations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, Union

__all__ = ["Document", "JsonValue", "Severity", "Verdict", "Violation", "as_pointer"]

#: A JSON text, decoded. Integers are exact; other numbers are IEEE doubles.
JsonValue: TypeAlias = Union[dict[str, "JsonValue"], list["JsonValue"], str, int, float, bool, None]


def as_pointer(path: Iterable[str | int]) -> str:
    """Return the JSON Pointer that leads along *path* (RFC 6901, section 3)."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


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


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a payload or a definition breaks a rule."""

    #: Where, as a JSON Pointer into what was judged; a missing property is
    #: reported at the object that lacks it, an unknown one at itself.
    instance_pointer: str
    #: Which part of the schema, as a JSON Pointer along the path of evaluation.
    schema_pointer: str
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
            len(self.instance_pointer)
            + len(self.schema_pointer)
            + len(self.message)
            + len(self.suggestion)
        )

    def order(self) -> tuple[str, str, str, str]:
        """Return the key by which violations are sorted in a verdict."""
        return (self.instance_pointer, self.schema_pointer, self.code, self.message)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a question of validity: the violations that were found."""

    #: Sorted by `Violation.order`.
    violations: tuple[Violation, ...] = ()
    #: Whether more violations may exist than are listed.
    truncated: bool = False

    @property
    def valid(self) -> bool:
        """Whether no violation of severity error was found."""
        return not any(found.severity is Severity.ERROR for found in self.violations)

    @classmethod
    def listing(cls, found: Sequence[Violation], *, truncated: bool = False) -> "Verdict":
        """Return the verdict that lists *found* in order."""
        return cls(tuple(sorted(found, key=Violation.order)), truncated)
