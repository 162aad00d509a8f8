"""Identifiers, host addresses and durations: formats that jsonschema-rs checks.

Formats ``uri``, ``uri-reference``, ``iri``, ``iri-reference``, ``uri-template``, ``ipv4``,
``ipv6``, ``uuid``, ``duration`` and ``json-pointer``. All dialects agree on them. The
library implements their grammars correctly, except for characters that this module excludes.
"""
# Decision 0014: the library checks the formats that it implements correctly; our own
# grammars check the others.

import re
from collections.abc import Callable
from functools import cache

__all__ = [
    "is_duration",
    "is_ipv4",
    "is_ipv6",
    "is_iri",
    "is_iri_reference",
    "is_json_pointer",
    "is_uri",
    "is_uri_reference",
    "is_uri_template",
    "is_uuid",
]

#: Longest string of a format whose grammar has no bound, in characters.
LONGEST = 1 << 16
LONGEST_DURATION = 1024
LONGEST_IPV6 = len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")

#: Formatting characters that an IRI must not contain, though they are ucschar (RFC 3987,
#: section 4.1).
BIDI_FORMATTING = re.compile("[\u200e\u200f\u202a-\u202e]")

#: The characters beyond ASCII that are neither ucschar nor iprivate (RFC 6570, section 1.5):
#: controls, noncharacters, specials and tags.
NOT_LITERAL = re.compile(
    "[\u0080-\u009f\ufdd0-\ufdef\ufff0-\uffff\U000e0000-\U000e0fff"
    + "".join(
        chr(plane + 0xFFFE) + chr(plane + 0xFFFF) for plane in range(1 << 16, 17 << 16, 1 << 16)
    )
    + "]"
)


@cache
def load_validator(name: str) -> Callable[[str], bool]:
    """Return the validator of the format *name*.

    The validator raises UnicodeEncodeError for a string with a lone surrogate. The first call
    imports the library, which takes milliseconds; most schemas have no such format.

    Raises:
        MemoryError: the library does not fit into the address space limit of the worker.
    """
    try:
        import jsonschema_rs  # noqa: PLC0415
    except ImportError as error:
        raise MemoryError from error
    return jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True).is_valid


def build_check(
    name: str, longest: int, excluded: re.Pattern[str] | None = None
) -> Callable[[str], bool]:
    """Return the check of the format *name* on strings without *excluded* characters.

    *excluded* matches characters beyond ASCII. Strings with more than *longest* characters,
    and strings with a lone surrogate, which are not Unicode text, are rejected.
    """

    def check(text: str) -> bool:
        if len(text) > longest:
            return False
        try:
            valid = load_validator(name)(text)
        except UnicodeEncodeError:
            return False
        if not valid or excluded is None or text.isascii():
            return valid
        return excluded.search(text) is None

    return check


is_uri = build_check("uri", LONGEST)
"""URI: it has a scheme (RFC 3986, section 3), and no zone (RFC 9844 withdrew RFC 6874)."""

is_uri_reference = build_check("uri-reference", LONGEST)
"""URI or relative reference (RFC 3986, section 4.1)."""

is_iri = build_check("iri", LONGEST, BIDI_FORMATTING)
"""IRI: it has a scheme (RFC 3987, section 2.2)."""

is_iri_reference = build_check("iri-reference", LONGEST, BIDI_FORMATTING)
"""IRI or relative reference (RFC 3987, section 2.2)."""

is_uri_template = build_check("uri-template", LONGEST, NOT_LITERAL)
"""URI template of any level, also with reserved operators (RFC 6570, section 2)."""

is_ipv4 = build_check("ipv4", len("255.255.255.255"))
"""Four decimal octets without leading zeros (RFC 2673, section 3.2)."""

is_ipv6 = build_check("ipv6", LONGEST_IPV6)
"""IPv6 address in text (RFC 4291, section 2.2), without a zone (RFC 4007)."""

is_uuid = build_check("uuid", len("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"))
"""UUID of any version and variant (RFC 4122, section 3)."""

is_duration = build_check("duration", LONGEST_DURATION)
"""Duration (RFC 3339, appendix A). Its letters are upper case, as in ISO 8601."""

is_json_pointer = build_check("json-pointer", LONGEST)
"""JSON Pointer (RFC 6901, section 3)."""
