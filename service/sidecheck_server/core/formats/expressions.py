"""Regular expressions: the format ``regex``."""

from sidecheck_server.core.patterns import PatternFault, PatternRefused
from sidecheck_server.core.patterns.translation import translate

__all__ = ["is_regex"]

#: Half of what a schema's own pattern may have: a schema is read once, a payload at each call.
LONGEST = 512


def is_regex(text: str) -> bool:
    """Return whether *text* is a regular expression of ECMA-262 (section 22.2.1).

    It is read as the pattern of a schema is, and not compiled: look-around and
    back-references are as valid as the rest, though no schema here could match
    them. Strings longer than 512 characters are none.
    """
    if len(text) > LONGEST:
        return False
    try:
        translate(text)
    except PatternRefused as refusal:
        return refusal.fault is not PatternFault.SYNTAX
    return True
