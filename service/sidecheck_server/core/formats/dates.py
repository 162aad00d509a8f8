"""Dates and times of RFC 3339: ``date``, ``time`` and ``date-time``.

No library decides these: the parsers at hand refuse leap seconds, lower case or
the year 0000, or take other forms of ISO 8601 as well.
"""

import re
from calendar import monthrange

__all__ = ["is_date", "is_date_time", "is_duration", "is_time"]

#: The fraction of a second may have any number of digits; this many is ample.
LONGEST = 256

DATE = re.compile(r"(?P<year>[0-9]{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-9]{2})")
TIME = re.compile(
    r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9]|60)"
    r"(?:\.[0-9]+)?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<ahead_hours>[01][0-9]|2[0-3]):(?P<ahead_minutes>[0-5][0-9]))"
)

DAY = 24 * 60
LAST_MINUTE = DAY - 1


def is_date(text: str) -> bool:
    """Return whether *text* is a full-date (RFC 3339, section 5.6) that the calendar has.

    The calendar is the Gregorian one, also before 1582, from year 0000 to 9999.
    """
    return days_left(text) is not None


def is_time(text: str) -> bool:
    """Return whether *text* is a full-time (RFC 3339, section 5.6).

    Second 60 stands only where 23:59:60 UTC is meant (section 5.7). Strings
    longer than 256 characters are no times.
    """
    if len(text) > LONGEST:
        return False
    match = TIME.fullmatch(text)
    if match is None:
        return False
    return match["second"] != "60" or utc_minutes(match) % DAY == LAST_MINUTE


def is_date_time(text: str) -> bool:
    """Return whether *text* is a date-time (RFC 3339, section 5.6), parted by T or t.

    Second 60 stands only at the end of a month in UTC (section 5.7), whether or
    not that month had a leap second: they are announced half a year ahead, so no
    table can tell. Strings longer than 256 characters are no date-times.
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
    # In UTC it may be the day after, so one day is left, or the day before, so it
    # is the first of the month.
    days_ahead = utc_minutes(match) // DAY
    return date.endswith("-01") if days_ahead < 0 else left == days_ahead


def days_left(text: str) -> int | None:
    """Return the days from the date *text* to the end of its month, or None if it is no date."""
    match = DATE.fullmatch(text)
    if match is None:
        return None
    day, days = int(match["day"]), monthrange(int(match["year"]), int(match["month"]))[1]
    return days - day if 1 <= day <= days else None


def utc_minutes(match: re.Match[str]) -> int:
    """Return the minutes since the local date's midnight at which the time is in UTC."""
    local = int(match["hour"]) * 60 + int(match["minute"])
    if match["sign"] is None:
        return local
    ahead = int(match["ahead_hours"]) * 60 + int(match["ahead_minutes"])
    return local - ahead if match["sign"] == "+" else local + ahead


#: Numbers may have any number of digits; this many characters are ample.
LONGEST_FROM_durations = 1024

SECOND = "[0-9]+S"
MINUTE = f"[0-9]+M(?:{SECOND})?"
HOUR = f"[0-9]+H(?:{MINUTE})?"
TIME_FROM_durations = f"T(?:{HOUR}|{MINUTE}|{SECOND})"
DAY_FROM_durations = "[0-9]+D"
WEEK = "[0-9]+W"
MONTH = f"[0-9]+M(?:{DAY_FROM_durations})?"
YEAR = f"[0-9]+Y(?:{MONTH})?"
DATE_FROM_durations = f"(?:{DAY_FROM_durations}|{MONTH}|{YEAR})(?:{TIME_FROM_durations})?"
DURATION = re.compile(f"P(?:{DATE_FROM_durations}|{TIME_FROM_durations}|{WEEK})")


def is_duration(text: str) -> bool:
    """Return whether *text* is a duration (RFC 3339, appendix A).

    Its letters are capital, as in ISO 8601, which the appendix restates. Strings
    longer than 1,024 characters are no durations.
    """
    return len(text) <= LONGEST_FROM_durations and DURATION.fullmatch(text) is not None
