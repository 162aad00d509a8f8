"""The repairs that a caller can request."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Coercion", "Repairs", "UnknownArguments", "UnknownProperty"]


class UnknownArguments(StrEnum):
    """Treatment of properties that the schema does not know."""

    #: The schema alone decides.
    SCHEMA = "schema"
    #: They are violations of severity error.
    REJECT = "reject"
    #: They are removed.
    STRIP = "strip"
    #: They are violations of severity warning; the payload stays valid.
    REPORT = "report"


class Coercion(StrEnum):
    """Which values of a wrong type are converted to the right one."""

    NONE = "none"
    #: Strings that hold the JSON text of an object or an array.
    JSON_STRINGS = "json-strings"
    #: These, and scalars whose value survives the conversion exactly.
    SAFE_SCALARS = "safe-scalars"


@dataclass(frozen=True, slots=True)
class UnknownProperty:
    """A property that the schema neither knows nor forbids."""

    #: JSON Pointer to the property.
    pointer: str
    #: JSON Pointer to the ``properties`` that lack it, along the path of evaluation; the
    #: first if there are several.
    keyword_location: str
    #: What is wrong with it, for people.
    message: str
    #: The nearest known name, or "".
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Repairs:
    """The requested repairs."""

    unknown: UnknownArguments = UnknownArguments.SCHEMA
    coercion: Coercion = Coercion.NONE
    apply_defaults: bool = False
