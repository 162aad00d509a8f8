"""Table of the formats, with their dialects and defining specifications."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sidecheck_server.core.formats.addresses import (
    is_email,
    is_hostname,
    is_idn_email,
    is_idn_hostname,
    is_ldh_hostname,
)
from sidecheck_server.core.formats.dates import is_date, is_date_time, is_time
from sidecheck_server.core.formats.identifiers import (
    is_duration,
    is_ipv4,
    is_ipv6,
    is_iri,
    is_iri_reference,
    is_json_pointer,
    is_uri,
    is_uri_reference,
    is_uri_template,
    is_uuid,
)
from sidecheck_server.core.patterns import PatternError, PatternFault
from sidecheck_server.core.patterns.translation import check_syntax

__all__ = [
    "FORMATS",
    "FormatRule",
    "format_checker",
    "format_rule",
    "is_indexed_relative_json_pointer",
    "is_regex",
    "is_relative_json_pointer",
]

LONGEST_POINTER = 1 << 16

NUMBER = "(?:0|[1-9][0-9]*+)"
LEVELS = re.compile(NUMBER)
LEVELS_AND_INDEX = re.compile(f"{NUMBER}(?:[+-]{NUMBER})?")


def is_relative_json_pointer(text: str) -> bool:
    """Return whether *text* is a number, then ``#`` or a JSON Pointer.

    The syntax is that of draft-handrews-relative-json-pointer-01, section 3.
    Strings longer than 65,536 characters are rejected.
    """
    return is_pointer_after(LEVELS, text)


def is_indexed_relative_json_pointer(text: str) -> bool:
    """Return whether *text* is a relative JSON Pointer, with index adjustment.

    The syntax is that of draft-bhutton-relative-json-pointer-00, section 3: ``+N`` or ``-N``
    may follow the number. Then ``#`` may follow as well: the grammar omits it, but the
    example ``0-1#`` of section 5.1 has it. Strings longer than 65,536 characters are
    rejected.
    """
    return is_pointer_after(LEVELS_AND_INDEX, text)


def is_pointer_after(prefix: re.Pattern[str], text: str) -> bool:
    """Return whether *text* is *prefix*, then ``#`` or a JSON Pointer."""
    if len(text) > LONGEST_POINTER:
        return False
    match = prefix.match(text)
    if match is None:
        return False
    rest = text[match.end() :]
    return rest == "#" or is_json_pointer(rest)


#: Half of the longest pattern in a schema, because it is parsed again for each payload.
LONGEST_REGEX = 512


def is_regex(text: str) -> bool:
    """Return whether *text* is a regular expression of ECMA-262 (section 22.2.1).

    It is parsed like a pattern of a schema, but not compiled: look-around and back-references
    are valid, although they cannot be matched in linear time.
    Strings longer than 512 characters are rejected.
    """
    if len(text) > LONGEST_REGEX:
        return False
    try:
        check_syntax(text)
    except PatternError as error:
        return error.fault is not PatternFault.SYNTAX
    return True


@dataclass(frozen=True, slots=True)
class FormatRule:
    """One format, as some dialects define it."""

    name: str
    #: The short names of the dialects, such as ``2020-12``.
    dialects: frozenset[str]
    #: Returns whether a string has the format. Raises only MemoryError.
    check: Callable[[str], bool]
    #: The section of the specification that defines it.
    source: str
    #: A string that has the format.
    example: str


DIALECTS = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")

SINCE_04 = frozenset(DIALECTS)
SINCE_06 = frozenset(DIALECTS[1:])
SINCE_07 = frozenset(DIALECTS[2:])
SINCE_2019 = frozenset(DIALECTS[3:])
SINCE_2020 = frozenset(DIALECTS[4:])

#: If the definition of a format has changed, the older rule comes first.
RULES = (
    FormatRule("date", SINCE_07, is_date, "RFC 3339, section 5.6", "2025-11-25"),
    FormatRule("time", SINCE_07, is_time, "RFC 3339, section 5.6", "12:30:00Z"),
    FormatRule(
        "date-time", SINCE_04, is_date_time, "RFC 3339, section 5.6", "2025-11-25T12:30:00Z"
    ),
    FormatRule("duration", SINCE_2019, is_duration, "RFC 3339, appendix A", "P1DT12H"),
    FormatRule("email", SINCE_04, is_email, "RFC 5321, section 4.1.2", "joe@example.com"),
    FormatRule("idn-email", SINCE_07, is_idn_email, "RFC 6531, section 3.3", "josé@example.com"),
    FormatRule(
        "hostname",
        SINCE_04 - SINCE_07,
        is_ldh_hostname,
        "RFC 1123, section 2.1",
        "www.example.com",
    ),
    FormatRule(
        "hostname",
        SINCE_07,
        is_hostname,
        "RFC 1123, section 2.1, with A-labels of RFC 5891, section 4.4",
        "www.example.com",
    ),
    FormatRule(
        "idn-hostname", SINCE_07, is_idn_hostname, "RFC 5890, section 2.3.2.3", "bücher.example"
    ),
    FormatRule("ipv4", SINCE_04, is_ipv4, "RFC 2673, section 3.2", "192.0.2.1"),
    FormatRule("ipv6", SINCE_04, is_ipv6, "RFC 4291, section 2.2", "2001:db8::1"),
    FormatRule("uri", SINCE_04, is_uri, "RFC 3986, section 3", "https://example.com/a?b#c"),
    FormatRule("uri-reference", SINCE_06, is_uri_reference, "RFC 3986, section 4.1", "../a?b#c"),
    FormatRule("iri", SINCE_07, is_iri, "RFC 3987, section 2.2", "https://example.com/é"),
    FormatRule("iri-reference", SINCE_07, is_iri_reference, "RFC 3987, section 2.2", "../é"),
    FormatRule(
        "uri-template", SINCE_06, is_uri_template, "RFC 6570, section 2", "/users/{id}{?page}"
    ),
    FormatRule("json-pointer", SINCE_06, is_json_pointer, "RFC 6901, section 3", "/items/0/name"),
    FormatRule(
        "relative-json-pointer",
        SINCE_07 - SINCE_2020,
        is_relative_json_pointer,
        "draft-handrews-relative-json-pointer-01, section 3",
        "1/name",
    ),
    FormatRule(
        "relative-json-pointer",
        SINCE_2020,
        is_indexed_relative_json_pointer,
        "draft-bhutton-relative-json-pointer-00, section 3",
        "1/name",
    ),
    FormatRule("regex", SINCE_07, is_regex, "ECMA-262, section 22.2.1", "^[a-z]+$"),
    FormatRule(
        "uuid",
        SINCE_2019,
        is_uuid,
        "RFC 4122, section 3",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    ),
)

FORMATS: Mapping[str, FormatRule] = MappingProxyType({rule.name: rule for rule in RULES})
"""The formats by name, each as the newest dialect defines it."""

RULE_OF = {(rule.name, dialect): rule for rule in RULES for dialect in rule.dialects}


def format_rule(name: str, dialect: str) -> FormatRule | None:
    """Return the rule of the format *name* in *dialect*, or None."""
    return RULE_OF.get((name, dialect))


def format_checker(name: str, dialect: str) -> Callable[[str], bool] | None:
    """Return the checker of the format *name* in *dialect*, or None.

    None if the dialect does not define the format: unknown formats accept every value
    (2020-12 Validation, section 7.2.3). Checkers apply to strings only; formats accept all
    other values (section 7.1).
    """
    rule = format_rule(name, dialect)
    return None if rule is None else rule.check
