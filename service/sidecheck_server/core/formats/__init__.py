"""The formats of JSON Schema, as checked where ``format`` is asserted.

`format_checker` returns the checker of a format in a dialect; `FORMATS` has the
metadata of each format. A checker takes any str, returns whether it has the format, and
raises only MemoryError. Its time is linear in the length of the string, and strings above
the longest length of a format are rejected.
"""

from sidecheck_server.core.formats.rules import (
    FORMATS,
    FormatRule,
    format_checker,
    format_rule,
)

__all__ = ["FORMATS", "FormatRule", "format_checker", "format_rule"]
