"""JSON Pointers: the formats ``json-pointer`` and ``relative-json-pointer``."""

import re

from jsonpointer import JsonPointer, JsonPointerException

from sidecheck_server.core.patterns import PatternError, PatternFault
from sidecheck_server.core.patterns.translation import translate

__all__ = [
    "is_indexed_relative_json_pointer",
    "is_json_pointer",
    "is_regex",
    "is_relative_json_pointer",
    "is_uuid",
]

LONGEST = 1 << 16

NUMBER = "(?:0|[1-9][0-9]*+)"
UP = re.compile(NUMBER)
UP_AND_ALONG = re.compile(f"{NUMBER}(?:[+-]{NUMBER})?")


def is_json_pointer(text: str) -> bool:
    """Return whether *text* is a JSON Pointer (RFC 6901, section 3).

    Strings longer than 65,536 characters are none.
    """
    if len(text) > LONGEST:
        return False
    try:
        JsonPointer(text)
    except JsonPointerException:
        return False
    return True


def is_relative_json_pointer(text: str) -> bool:
    """Return whether *text* is a number, then ``#`` or a JSON Pointer.

    The syntax is that of draft-handrews-relative-json-pointer-01, section 3.
    Strings longer than 65,536 characters are none.
    """
    return is_pointer_after(UP, text)


def is_indexed_relative_json_pointer(text: str) -> bool:
    """Return whether *text* is as a relative JSON Pointer, perhaps moved along an array.

    The syntax is that of draft-bhutton-relative-json-pointer-00, section 3, where
    ``+N`` or ``-N`` may follow the number. ``#`` may follow that too: the grammar
    forgets it, the example ``0-1#`` of section 5.1 shows it. Strings longer than
    65,536 characters are none.
    """
    return is_pointer_after(UP_AND_ALONG, text)


def is_pointer_after(prefix: re.Pattern[str], text: str) -> bool:
    """Return whether *text* is *prefix*, then ``#`` or a JSON Pointer."""
    if len(text) > LONGEST:
        return False
    match = prefix.match(text)
    if match is None:
        return False
    rest = text[match.end() :]
    return rest == "#" or is_json_pointer(rest)


#: Half of what a schema's own pattern may have: a schema is read once, a payload at each call.
LONGEST_FROM_expressions = 512


def is_regex(text: str) -> bool:
    """Return whether *text* is a regular expression of ECMA-262 (section 22.2.1).

    It is read as the pattern of a schema is, and not compiled: look-around and
    back-references are as valid as the rest, though no schema here could match
    them. Strings longer than 512 characters are none.
    """
    if len(text) > LONGEST_FROM_expressions:
        return False
    try:
        translate(text)
    except PatternError as refusal:
        return refusal.fault is not PatternFault.SYNTAX
    return True


UUID = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def is_uuid(text: str) -> bool:
    """Return whether *text* is a UUID of any version and variant (RFC 4122, section 3)."""
    return UUID.fullmatch(text) is not None
