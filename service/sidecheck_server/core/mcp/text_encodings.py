"""Texts that stand for bytes: base64, ``data:`` URIs, and the media types beside them."""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.formats.dates import is_date_time

__all__ = ["DataUri", "base64_fault", "is_iso_8601", "is_media_type", "read_data_uri"]

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ALIEN = re.compile(r"[^A-Za-z0-9+/]")
_PADDING = re.compile(r"={1,2}")
_PADDINGS = ("", "=", "==")

#: RFC 6838, section 4.2, with parameters as RFC 2045, section 5.1, has them.
_RESTRICTED_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&\-^_.+]{0,126}"
_VALUE = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}"
_MEDIA_TYPE = re.compile(
    rf"{_RESTRICTED_NAME}/{_RESTRICTED_NAME}"
    rf'(?:[ \t]*;[ \t]*{_VALUE}=(?:{_VALUE}|"[^"\\\x00-\x1f]{{0,256}}"))*+[ \t]*'
)
_LONGEST_MEDIA_TYPE = 512


def base64_fault(text: str, budget: Budget) -> str:
    """Return what is wrong with *text* as base64, or "".

    It is base64 of RFC 4648, section 4: that alphabet, padded, and nothing else such as
    line feeds. Bits that nothing is made of may be set (section 3.5). No character of
    *text* is told.
    """
    spend(budget, len(text) // 16 + 20)
    if len(text) % 4 or not text.isascii():
        return _why(text)
    # Decoding takes seven times as long, and nobody wants the bytes.
    left = text.encode().translate(None, _ALPHABET).decode()
    return "" if left in _PADDINGS and text.endswith(left) else _why(text)


def _why(text: str) -> str:
    alien = _ALIEN.search(text)
    if alien is None:
        return f"it has {len(text)} characters, which is not a multiple of 4: padding is missing"
    at = alien.start()
    match alien[0]:
        case "=":
            padding = _PADDING.match(text, at)
            assert padding is not None
            if padding.end() < len(text):
                return f"the padding at position {at} is not the end"
            return f"it has {at} characters before its padding, which does not fit"
        case "-" | "_":
            return f"position {at} has a character of base64url, which is another encoding"
        case " " | "\t" | "\r" | "\n":
            return f"position {at} is white space"
        case ":" if text[:at] == "data":
            return "it is a data: URI, not the data alone"
        case _:
            return f"position {at} has a character that is not in the alphabet"


def is_media_type(text: str) -> bool:
    """Return whether *text* is a media type such as ``image/png``, perhaps with parameters."""
    return len(text) <= _LONGEST_MEDIA_TYPE and _MEDIA_TYPE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class DataUri:
    """A ``data:`` URI that was read (RFC 2397)."""

    #: Its media type without parameters, in lower case; "" if it has none.
    media_type: str
    #: Whether its data is said to be base64.
    base64: bool
    #: The data, as it stands after percent-encoding is undone.
    data: str


def read_data_uri(uri: str, budget: Budget) -> DataUri | None:
    """Return what the ``data:`` URI *uri* holds, or None if it is not a whole one."""
    spend(budget, len(uri) // 16 + 20)
    head, comma, data = uri.partition(",")
    scheme, _, kind = head.partition(":")
    if not comma or scheme.lower() != "data":
        return None
    media_type, *parameters = kind.split(";")
    if "%" in data:
        # Undoing it takes a few steps for each character that is encoded.
        spend(budget, 8 * data.count("%"))
        data = unquote(data)
    encoded = bool(parameters) and parameters[-1].strip().lower() == "base64"
    return DataUri(media_type.strip().lower(), encoded, data)


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
