"""The repairs that a caller can request."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Coercion", "Repairs", "UnknownArguments", "UnknownProperty"]


class UnknownArguments(StrEnum):
    """Treatment of properties that the schema does not declare."""

    #: The schema alone decides.
    SCHEMA = "schema"
    #: They are violations of severity error.
    REJECT = "reject"
    #: They are removed.
    STRIP = "strip"
    #: They are violations of severity warning; the payload stays valid.
    REPORT = "report"


class Coercion(StrEnum):
    """Values that are converted to the required type, or removed."""

    NONE = "none"
    #: Strings with the JSON text of an object or an array.
    JSON_STRINGS = "json-strings"
    #: JSON strings, and scalars whose value the conversion preserves exactly. Rejected
    #: properties with null, ``""`` or ``"null"`` are removed unless they are required.
    SAFE_SCALARS = "safe-scalars"


@dataclass(frozen=True, slots=True)
class UnknownProperty:
    """A property that the schema neither declares nor forbids."""

    #: JSON Pointer to the property.
    pointer: str
    #: JSON Pointer to the first ``properties`` without it, along the path of evaluation.
    keyword_location: str
    #: Description of the problem, for people.
    message: str
    #: The nearest known name, or "".
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Repairs:
    """The requested repairs."""

    unknown: UnknownArguments = UnknownArguments.SCHEMA
    coercion: Coercion = Coercion.NONE
    apply_defaults: bool = False
