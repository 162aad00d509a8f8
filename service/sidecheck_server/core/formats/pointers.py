"""JSON Pointers: the formats ``json-pointer`` and ``relative-json-pointer``."""

import re

from jsonpointer import JsonPointer, JsonPointerException

__all__ = ["is_indexed_relative_json_pointer", "is_json_pointer", "is_relative_json_pointer"]

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
