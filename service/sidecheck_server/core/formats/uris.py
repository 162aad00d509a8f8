"""URIs: the formats ``uri``, ``uri-reference``, ``iri``, ``iri-reference``, ``uri-template``.

No library is used: the available parsers split a text without checking its parts, and
those with the whole grammar take more than linear time; libraries that expand templates
accept invalid ones. A text is split as in RFC 3986, appendix B; then each part is
matched. Every pattern is possessive, so nothing is matched twice.
"""

import re
from dataclasses import dataclass

from sidecheck_server.core.formats.addresses import is_ipv6

__all__ = [
    "IPRIVATE",
    "PCT_ENCODED",
    "UCSCHAR",
    "is_iri",
    "is_iri_reference",
    "is_uri",
    "is_uri_reference",
    "is_uri_template",
]

LONGEST = 1 << 16

PCT_ENCODED = "%[0-9A-Fa-f]{2}"

#: The characters that IRIs and templates add, as members of a character class (RFC 3987,
#: section 2.2, and RFC 6570, section 1.5).
UCSCHAR = "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"{chr(plane + (0x1000 if plane == 0xE0000 else 0))}-{chr(plane + 0xFFFD)}"
    for plane in range(0x10000, 0xF0000, 0x10000)
)
IPRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"

#: Formatting characters that an IRI must not contain, though they are ucschar (RFC 3987,
#: section 4.1).
BIDI_FORMATTING = re.compile("[\u200e\u200f\u202a-\u202e]")

UNRESERVED = r"A-Za-z0-9\-._~"
SUB_DELIMS = "!$&'()*+,;="

REFERENCE = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+\-.]*+):)?+"
    r"(?://(?P<authority>[^/?#]*+))?+"
    r"(?P<path>[^?#]*+)"
    r"(?:\?(?P<query>[^#]*+))?+"
    r"(?:#(?P<fragment>.*+))?+",
    re.DOTALL,
)

#: Plain URIs, which most are: one match is enough.
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*+:(?://[A-Za-z0-9\-.]*+)?+(?:/[A-Za-z0-9\-._~]*+)*+")

IP_FUTURE = re.compile(rf"[Vv][0-9A-Fa-f]++\.[{UNRESERVED}{SUB_DELIMS}:]++")


@dataclass(frozen=True, slots=True)
class Grammar:
    """The patterns of the parts of a URI or an IRI."""

    authority: re.Pattern[str]
    path: re.Pattern[str]
    query: re.Pattern[str]
    fragment: re.Pattern[str]


def compile_grammar(others: str, others_in_query: str) -> Grammar:
    """Return the grammar with *others* as unreserved characters (RFC 3986, appendix A)."""
    unreserved = UNRESERVED + others
    reg_name = unreserved + SUB_DELIMS
    pchar = reg_name + ":@"
    return Grammar(
        authority=re.compile(
            rf"(?:{any_of(reg_name + ':')}@)?+"
            rf"(?:\[(?P<literal>[^\]]*+)\]|{any_of(reg_name)})"
            r"(?::[0-9]*+)?+"
        ),
        path=re.compile(any_of(pchar + "/")),
        query=re.compile(any_of(pchar + "/?" + others_in_query)),
        fragment=re.compile(any_of(pchar + "/?")),
    )


def any_of(members: str) -> str:
    """Return the pattern of any number of *members* and percent-encoded octets."""
    return f"(?:[{members}]++|{PCT_ENCODED})*+"


URI = compile_grammar("", "")
IRI = compile_grammar(UCSCHAR, IPRIVATE)


def is_uri(text: str) -> bool:
    """Return whether *text* is a URI: it has a scheme (RFC 3986, section 3).

    Strings longer than 65,536 characters are rejected.
    """
    if len(text) <= LONGEST and PLAIN.fullmatch(text) is not None:
        return True
    return is_reference(text, URI, needs_scheme=True)


def is_uri_reference(text: str) -> bool:
    """Return whether *text* is a URI or a relative reference (RFC 3986, section 4.1).

    Strings longer than 65,536 characters are rejected.
    """
    return is_reference(text, URI, needs_scheme=False)


def is_iri(text: str) -> bool:
    """Return whether *text* is an IRI: it has a scheme (RFC 3987, section 2.2).

    It has no bidirectional formatting characters (section 4.1). Strings longer
    than 65,536 characters are rejected.
    """
    return is_reference(text, IRI, needs_scheme=True) and BIDI_FORMATTING.search(text) is None


def is_iri_reference(text: str) -> bool:
    """Return whether *text* is an IRI or a relative reference (RFC 3987, section 2.2).

    It has no bidirectional formatting characters (section 4.1). Strings longer
    than 65,536 characters are rejected.
    """
    return is_reference(text, IRI, needs_scheme=False) and BIDI_FORMATTING.search(text) is None


def is_reference(text: str, grammar: Grammar, *, needs_scheme: bool) -> bool:
    """Return whether *text* is a reference of *grammar*, with a scheme if it *needs_scheme*."""
    if len(text) > LONGEST:
        return False
    parts = REFERENCE.fullmatch(text)
    if parts is None:
        return False
    scheme, authority, path = parts["scheme"], parts["authority"], parts["path"]
    if scheme is None:
        # A colon in the first segment would end a scheme (section 4.2).
        names_scheme = authority is None and ":" in path.partition("/")[0]
        if needs_scheme or names_scheme:
            return False
    return (
        (authority is None or is_authority(authority, grammar))
        and grammar.path.fullmatch(path) is not None
        and grammar.query.fullmatch(parts["query"] or "") is not None
        and grammar.fragment.fullmatch(parts["fragment"] or "") is not None
    )


def is_authority(text: str, grammar: Grammar) -> bool:
    """Return whether *text* is an authority of *grammar* (RFC 3986, section 3.2).

    An IPv6 address has no zone: RFC 9844 withdrew the syntax of RFC 6874.
    """
    match = grammar.authority.fullmatch(text)
    if match is None:
        return False
    literal = match["literal"]
    return literal is None or is_ipv6(literal) or IP_FUTURE.fullmatch(literal) is not None


#: RFC 6570, section 2.1, with the apostrophe of erratum 6937.
LITERALS = rf"[!#$&-;=?-\[\]_a-z~{UCSCHAR}{IPRIVATE}]++|{PCT_ENCODED}"

VARCHAR = f"(?:[A-Za-z0-9_]|{PCT_ENCODED})"
VARSPEC = rf"{VARCHAR}(?:\.?{VARCHAR})*+(?::[1-9][0-9]{{0,3}}+|\*)?+"
EXPRESSION = rf"\{{[+#./;?&=,!@|]?+{VARSPEC}(?:,{VARSPEC})*+\}}"

TEMPLATE = re.compile(f"(?:{LITERALS}|{EXPRESSION})*+")


def is_uri_template(text: str) -> bool:
    """Return whether *text* is a URI template of any level (RFC 6570, section 2).

    The operators that section 2.2 reserves are part of the grammar, so they are valid.
    Strings longer than 65,536 characters are rejected.
    """
    return len(text) <= LONGEST and TEMPLATE.fullmatch(text) is not None
