"""The formats of JSON Schema: what ``format`` demands of a string where it is asserted.

`format_checker` returns the checker of a format in a dialect; `FORMATS` has the
metadata of each format. A checker takes any str, of any length and with any characters,
returns whether it has the format, and raises nothing but MemoryError. Its time is linear in a
length that it bounds itself: longer strings do not have the format.
"""

from sidecheck_server.core.formats.rules import (
    FORMATS,
    FormatRule,
    format_checker,
    format_rule,
)

__all__ = ["FORMATS", "FormatRule", "format_checker", "format_rule"]
