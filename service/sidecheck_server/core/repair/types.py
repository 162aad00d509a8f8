"""The words of repairs: what a caller may ask for."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Coercion", "Repairs", "UnknownArguments", "UnknownMember"]


class UnknownArguments(StrEnum):
    """What becomes of members that the schema does not know."""

    #: The schema alone decides.
    SCHEMA = "schema"
    #: They are violations.
    REFUSE = "refuse"
    #: They are taken out.
    STRIP = "strip"
    #: They are violations that leave the payload valid.
    REPORT = "report"


class Coercion(StrEnum):
    """Which values of a wrong type may be turned into the right one."""

    NONE = "none"
    #: Strings that hold the JSON text of an object or an array.
    JSON_STRINGS = "json_strings"
    #: These, and scalars whose value survives the change exactly.
    SAFE_SCALARS = "safe_scalars"


@dataclass(frozen=True, slots=True)
class UnknownMember:
    """A member of an object that the schema neither knows nor forbids."""

    #: Where it is, as a JSON Pointer.
    pointer: str
    #: The ``properties`` that do not have it, as a JSON Pointer along the path of
    #: evaluation; the first ones if there are several.
    keyword_location: str
    #: What is wrong with it, for a person.
    message: str
    #: The nearest known name, or "".
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Repairs:
    """What a caller asks for beside the verdict of the schema."""

    unknown: UnknownArguments = UnknownArguments.SCHEMA
    coercion: Coercion = Coercion.NONE
    apply_defaults: bool = False
