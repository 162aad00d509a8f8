"""The words of repairs: what a caller may ask for, and what was changed."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Change", "ChangeRule", "Coercion", "UnknownArguments", "UnknownMember"]


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


class ChangeRule(StrEnum):
    """Why a value was changed, or was not."""

    JSON_STRING_DECODED = "json_string_decoded"
    STRING_TO_INTEGER = "string_to_integer"
    STRING_TO_NUMBER = "string_to_number"
    STRING_TO_BOOLEAN = "string_to_boolean"
    NUMBER_TO_STRING = "number_to_string"
    BOOLEAN_TO_STRING = "boolean_to_string"
    UNKNOWN_MEMBER_REMOVED = "unknown_member_removed"
    DEFAULT_APPLIED = "default_applied"
    #: The one rule by which nothing changes.
    DEFAULT_SKIPPED = "default_skipped"


@dataclass(frozen=True, slots=True)
class Change:
    """One value of a payload that was changed, removed, or put in, or a default that was not."""

    #: Where, as a JSON Pointer. What was removed stood there before; of a default
    #: that was skipped, it is where the default would stand.
    pointer: str
    rule: ChangeRule
    #: The part of the schema that asked for it, as a JSON Pointer along the path of
    #: evaluation.
    schema_pointer: str
    #: What was done, for a person.
    message: str


@dataclass(frozen=True, slots=True)
class UnknownMember:
    """A member of an object that the schema neither knows nor forbids."""

    #: Where it is, as a JSON Pointer.
    pointer: str
    #: The ``properties`` that do not have it, as a JSON Pointer along the path of
    #: evaluation; the first ones if there are several.
    schema_pointer: str
    #: What is wrong with it, for a person.
    message: str
    #: The nearest known name, or "".
    suggestion: str = ""
