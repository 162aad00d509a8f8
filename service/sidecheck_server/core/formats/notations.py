"""Notations: the formats ``regex`` and ``relative-json-pointer``."""

import re

from sidecheck_server.core.formats.identifiers import is_json_pointer
from sidecheck_server.core.patterns import PatternError, PatternFault
from sidecheck_server.core.patterns.translation import check_syntax

__all__ = [
    "is_indexed_relative_json_pointer",
    "is_regex",
    "is_relative_json_pointer",
]

LONGEST_POINTER = 1 << 16

NUMBER = "(?:0|[1-9][0-9]*+)"
LEVELS = re.compile(NUMBER)
LEVELS_AND_INDEX = re.compile(f"{NUMBER}(?:[+-]{NUMBER})?")


def is_relative_json_pointer(text: str) -> bool:
    """Return whether *text* is a number, then ``#`` or a JSON Pointer.

    The syntax is that of draft-handrews-relative-json-pointer-01, section 3.
    Strings longer than 65,536 characters are rejected.
    """
    return is_pointer_after(LEVELS, text)


def is_indexed_relative_json_pointer(text: str) -> bool:
    """Return whether *text* is a relative JSON Pointer, perhaps with an index adjustment.

    The syntax is that of draft-bhutton-relative-json-pointer-00, section 3, where
    ``+N`` or ``-N`` may follow the number. ``#`` may follow that too: the grammar omits
    it, but the example ``0-1#`` of section 5.1 has it. Strings longer than
    65,536 characters are rejected.
    """
    return is_pointer_after(LEVELS_AND_INDEX, text)


def is_pointer_after(prefix: re.Pattern[str], text: str) -> bool:
    """Return whether *text* is *prefix*, then ``#`` or a JSON Pointer."""
    if len(text) > LONGEST_POINTER:
        return False
    match = prefix.match(text)
    if match is None:
        return False
    rest = text[match.end() :]
    return rest == "#" or is_json_pointer(rest)


#: Half the length of a pattern in a schema, since it is read again for each payload.
LONGEST_REGEX = 512


def is_regex(text: str) -> bool:
    """Return whether *text* is a regular expression of ECMA-262 (section 22.2.1).

    It is parsed as the pattern of a schema, but not compiled: look-around and
    back-references are valid, though linear-time matching cannot run them.
    Strings longer than 512 characters are rejected.
    """
    if len(text) > LONGEST_REGEX:
        return False
    try:
        check_syntax(text)
    except PatternError as error:
        return error.fault is not PatternFault.SYNTAX
    return True
