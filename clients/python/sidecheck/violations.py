"""Where a payload or a definition breaks a rule, and how grave that is."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Severity", "Violation"]


class Severity(StrEnum):
    """How grave a violation is. Only an error makes a verdict invalid."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One place where a payload or a definition breaks a rule."""

    #: The stable code of the rule in upper snake case. Programs decide by it.
    code: str
    #: Where, as a JSON Pointer (RFC 6901) into what was judged; "" is the whole.
    #: A missing property is reported at the object that lacks it, an unknown one
    #: at itself.
    instance_location: str = ""
    #: Which part of the schema was broken, as a JSON Pointer along the path of
    #: evaluation: it passes through ``$ref``. "" where no schema is involved.
    keyword_location: str = ""
    #: The JSON Schema keyword that failed, or "" where none is involved.
    keyword: str = ""
    #: How grave it is.
    severity: Severity = Severity.ERROR
    #: What was expected and what was found, for a person.
    message: str = ""
    #: The nearest known name or value, or "" where none is near.
    suggestion: str = ""
    #: The clause of the specification that the rule comes from, or "" where the
    #: rule is one of the schema's own.
    clause: str = ""
