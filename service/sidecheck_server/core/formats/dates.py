"""Dates and times of RFC 3339: the formats ``date``, ``time`` and ``date-time``.

No library is used: the available parsers reject leap seconds, lower case or the year
0000, or accept other forms of ISO 8601.
"""

import re
from calendar import monthrange

__all__ = ["is_date", "is_date_time", "is_time"]

#: Longest time and date-time, in characters. The grammar allows any number of digits in
#: the fraction of a second.
LONGEST = 256

DATE = re.compile(r"(?P<year>[0-9]{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-9]{2})")
TIME = re.compile(
    r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9]|60)"
    r"(?:\.[0-9]+)?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<ahead_hours>[01][0-9]|2[0-3]):(?P<ahead_minutes>[0-5][0-9]))"
)

MINUTES_PER_DAY = 24 * 60
LAST_MINUTE = MINUTES_PER_DAY - 1


def is_date(text: str) -> bool:
    """Return whether *text* is a full-date (RFC 3339, section 5.6) that exists.

    The calendar is the proleptic Gregorian one, from year 0000 to 9999.
    """
    return days_left(text) is not None


def is_time(text: str) -> bool:
    """Return whether *text* is a full-time (RFC 3339, section 5.6).

    Second 60 is valid only at 23:59:60 UTC (section 5.7). Strings longer than 256 characters
    are rejected.
    """
    if len(text) > LONGEST:
        return False
    match = TIME.fullmatch(text)
    if match is None:
        return False
    return match["second"] != "60" or utc_minutes(match) % MINUTES_PER_DAY == LAST_MINUTE


def is_date_time(text: str) -> bool:
    """Return whether *text* is a date-time (RFC 3339, section 5.6) with T or t.

    Second 60 is valid only at the end of a month in UTC (section 5.7), whether or not the
    month had a leap second: leap seconds are announced half a year ahead, so no table is
    complete. Strings longer than 256 characters are rejected.
    """
    if len(text) > LONGEST:
        return False
    date, separator, time = text[:10], text[10:11], text[11:]
    if separator not in {"T", "t"} or not is_time(time):
        return False
    left = days_left(date)
    if left is None:
        return False
    match = TIME.fullmatch(time)
    if match is None or match["second"] != "60":
        return True
    # In UTC the date may be the next day: then one day of the month must be left; or the
    # previous day: then the date must be the first of the month.
    days_ahead = utc_minutes(match) // MINUTES_PER_DAY
    return date.endswith("-01") if days_ahead < 0 else left == days_ahead


def days_left(text: str) -> int | None:
    """Return the number of days after *text* in its month; None if it is not a date."""
    match = DATE.fullmatch(text)
    if match is None:
        return None
    day, days = int(match["day"]), monthrange(int(match["year"]), int(match["month"]))[1]
    return days - day if 1 <= day <= days else None


def utc_minutes(match: re.Match[str]) -> int:
    """Return the time in UTC, in minutes since midnight of the local date."""
    local = int(match["hour"]) * 60 + int(match["minute"])
    if match["sign"] is None:
        return local
    ahead = int(match["ahead_hours"]) * 60 + int(match["ahead_minutes"])
    return local - ahead if match["sign"] == "+" else local + ahead
