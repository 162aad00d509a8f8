"""Encodings in texts: base64, ``data:`` URIs, media types and ISO 8601 timestamps."""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote

from sidecheck_server.core.formats.dates import is_date_time
from sidecheck_server.core.limits import Budget, spend

__all__ = ["DataUri", "base64_fault", "is_iso_8601", "is_media_type", "read_data_uri"]

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_INVALID_CHARACTER = re.compile(r"[^A-Za-z0-9+/]")
_PADDING = re.compile(r"={1,2}")
_PADDINGS = ("", "=", "==")

#: RFC 6838, section 4.2, with the parameters of RFC 2045, section 5.1.
_RESTRICTED_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&\-^_.+]{0,126}"
_VALUE = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}"
_MEDIA_TYPE = re.compile(
    rf"{_RESTRICTED_NAME}/{_RESTRICTED_NAME}"
    rf'(?:[ \t]*;[ \t]*{_VALUE}=(?:{_VALUE}|"[^"\\\x00-\x1f]{{0,256}}"))*+[ \t]*'
)
_MAX_MEDIA_TYPE_CHARACTERS = 512


def base64_fault(text: str, budget: Budget) -> str:
    """Return the reason why *text* is not base64, or "".

    The encoding is that of RFC 4648, section 4, with padding and without line feeds. Unused
    bits may be set (section 3.5). The reason does not quote *text*.
    """
    spend(budget, len(text) // 16 + 20)
    if len(text) % 4 or not text.isascii():
        return _describe_fault(text)
    # Decoding would take seven times as long.
    rest = text.encode().translate(None, _ALPHABET).decode()
    return "" if rest in _PADDINGS and text.endswith(rest) else _describe_fault(text)


def _describe_fault(text: str) -> str:
    invalid = _INVALID_CHARACTER.search(text)
    if invalid is None:
        return f"its length, {len(text)}, is not a multiple of 4: padding is missing"
    position = invalid.start()
    match invalid[0]:
        case "=":
            padding = _PADDING.match(text, position)
            assert padding is not None
            if padding.end() < len(text):
                return f"the padding at position {position} is not at the end"
            return f"its length with the padding, {len(text)}, is not a multiple of 4"
        case "-" | "_":
            return f"position {position} has a character of base64url, which is another encoding"
        case " " | "\t" | "\r" | "\n":
            return f"position {position} is white space"
        case ":" if text[:position] == "data":
            return "it is a data: URI, not the data alone"
        case _:
            return f"position {position} has a character that is not in the alphabet"


def is_media_type(text: str) -> bool:
    """Return whether *text* is a media type such as ``image/png``.

    It may have parameters.
    """
    return len(text) <= _MAX_MEDIA_TYPE_CHARACTERS and _MEDIA_TYPE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class DataUri:
    """Parts of a ``data:`` URI (RFC 2397)."""

    #: Media type without parameters, in lower case, or "".
    media_type: str
    #: Whether it declares its data as base64.
    base64: bool
    #: Percent-decoded data.
    data: str


def read_data_uri(uri: str, budget: Budget) -> DataUri | None:
    """Return the parts of the ``data:`` URI *uri*, or None if it is malformed."""
    spend(budget, len(uri) // 16 + 20)
    head, comma, data = uri.partition(",")
    scheme, _, kind = head.partition(":")
    if not comma or scheme.lower() != "data":
        return None
    media_type, *parameters = kind.split(";")
    if "%" in data:
        # Decoding takes a few steps for each encoded character.
        spend(budget, 8 * data.count("%"))
        data = unquote(data)
    is_base64 = bool(parameters) and parameters[-1].strip().lower() == "base64"
    return DataUri(media_type.strip().lower(), is_base64, data)


_MAX_TIMESTAMP_CHARACTERS = 64


def is_iso_8601(text: str) -> bool:
    """Return whether *text* is an ISO 8601 date, or date and time.

    Years are 0001 to 9999. Periods, times without a date and texts of more than 64 characters
    are not accepted.
    """
    if len(text) > _MAX_TIMESTAMP_CHARACTERS or not text.isascii() or text != text.strip():
        return False
    if is_date_time(text):
        return True
    date, separator, _ = text.partition("T")
    if not separator and not date.replace("-", "").replace("W", "").isdecimal():
        # `datetime` accepts any separator between date and time.
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
