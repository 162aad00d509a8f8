"""Durations: the format ``duration``.

No library decides it: the parsers of ISO 8601 also take fractions, signs and
units with a gap between them, which the grammar of RFC 3339 does not have.
"""

import re

__all__ = ["is_duration"]

#: Numbers may have any number of digits; this many characters are ample.
LONGEST = 1024

SECOND = "[0-9]+S"
MINUTE = f"[0-9]+M(?:{SECOND})?"
HOUR = f"[0-9]+H(?:{MINUTE})?"
TIME = f"T(?:{HOUR}|{MINUTE}|{SECOND})"
DAY = "[0-9]+D"
WEEK = "[0-9]+W"
MONTH = f"[0-9]+M(?:{DAY})?"
YEAR = f"[0-9]+Y(?:{MONTH})?"
DATE = f"(?:{DAY}|{MONTH}|{YEAR})(?:{TIME})?"
DURATION = re.compile(f"P(?:{DATE}|{TIME}|{WEEK})")


def is_duration(text: str) -> bool:
    """Return whether *text* is a duration (RFC 3339, appendix A).

    Its letters are capital, as in ISO 8601, which the appendix restates. Strings
    longer than 1,024 characters are no durations.
    """
    return len(text) <= LONGEST and DURATION.fullmatch(text) is not None
