"""Moments in time as the protocol writes them."""

from datetime import datetime

from sidecheck_server.core.formats.dates import is_date_time

__all__ = ["is_iso_8601"]

_LONGEST = 64


def is_iso_8601(text: str) -> bool:
    """Return whether *text* is a date, or a date and time, of ISO 8601 from year 0001 to 9999.

    Periods and times without a date are no moments. Texts of more than 64 characters
    are none.
    """
    if len(text) > _LONGEST or not text.isascii() or text != text.strip():
        return False
    if is_date_time(text):
        return True
    date, mark, _ = text.partition("T")
    if not mark and not date.replace("-", "").replace("W", "").isdecimal():
        # The library takes any character between date and time.
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
