"""The formats of JSON Schema: what ``format`` says of a string where it is asserted.

`format_checker` finds the checker of a format in a dialect; `FORMATS` holds what
is known of each, for messages. A checker takes any str, of any length and with
any characters, returns whether it has the format, and raises nothing. Its time
is linear in a length that it bounds itself: a longer string is not of the format.
"""

from sidecheck_server.core.formats.rules import (
    FORMATS,
    FormatRule,
    format_checker,
    format_rule,
)

__all__ = ["FORMATS", "FormatRule", "format_checker", "format_rule"]
