r"""Unicode properties: what `\p{..}` and `\P{..}` name.

The names are those of ECMA-262 section 22.2.2.9 (UnicodeMatchProperty), to the
letter: unlike Unicode itself, ECMA-262 does not match names loosely.

The data is RE2's own, read out of it once for each property, on first use. So a
property means the same set alone, inside a class and negated, and the same on
every release of Python. A property that RE2's categories and scripts cannot
give exactly is known by name and has no data.
"""

from functools import cache, lru_cache

from sidecheck_server.core.patterns.automaton import build_automaton
from sidecheck_server.core.patterns.codepoints import LAST, Ranges
from sidecheck_server.core.patterns.property_names import (
    BINARY_PROPERTIES,
    GENERAL_CATEGORIES,
    SCRIPTS,
)

__all__ = ["find_property"]

#: RE2 has no Cn, and leaves it out of C; LC it does not know at all.
COMPOSITES = {
    "LC": r"\p{Lu}\p{Ll}\p{Lt}",
    "C": r"^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}",
    "Cn": r"^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\p{C}",
}

# Ll and Other_Lowercase, Lu and Other_Uppercase (PropList, version 15.1, as RE2's data).
LOWERCASE = (
    r"\p{Ll}\x{aa}\x{ba}\x{2b0}-\x{2b8}\x{2c0}\x{2c1}\x{2e0}-\x{2e4}\x{345}\x{37a}\x{10fc}"
    r"\x{1d2c}-\x{1d6a}\x{1d78}\x{1d9b}-\x{1dbf}\x{2071}\x{207f}\x{2090}-\x{209c}"
    r"\x{2170}-\x{217f}\x{24d0}-\x{24e9}\x{2c7c}\x{2c7d}\x{a69c}\x{a69d}\x{a770}"
    r"\x{a7f2}-\x{a7f4}\x{a7f8}\x{a7f9}\x{ab5c}-\x{ab5f}\x{ab69}\x{10780}"
    r"\x{10783}-\x{10785}\x{10787}-\x{107b0}\x{107b2}-\x{107ba}\x{1e030}-\x{1e06d}"
)
UPPERCASE = (
    r"\p{Lu}\x{2160}-\x{216f}\x{24b6}-\x{24cf}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}"
    r"\x{1f170}-\x{1f189}"
)

#: Binary properties as members of an RE2 class. Those made of code points alone
#: are fixed by the stability policy of Unicode or have not changed for years.
MEMBERS = {
    "Any": r"\x00-\x{10ffff}",
    "ASCII": r"\x00-\x7f",
    "ASCII_Hex_Digit": "0-9A-Fa-f",
    "Assigned": r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\p{C}",
    "Bidi_Control": r"\x{61c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}",
    "Cased": LOWERCASE + UPPERCASE + r"\p{Lt}",
    "Emoji_Modifier": r"\x{1f3fb}-\x{1f3ff}",
    "Hex_Digit": r"0-9A-Fa-f\x{ff10}-\x{ff19}\x{ff21}-\x{ff26}\x{ff41}-\x{ff46}",
    "Join_Control": r"\x{200c}\x{200d}",
    "Lowercase": LOWERCASE,
    "Noncharacter_Code_Point": r"\x{fdd0}-\x{fdef}"
    + "".join(rf"\x{{{plane:x}fffe}}\x{{{plane:x}ffff}}" for plane in range(17)),
    "Pattern_White_Space": r"\x09-\x0d\x20\x{85}\x{200e}\x{200f}\x{2028}\x{2029}",
    "Regional_Indicator": r"\x{1f1e6}-\x{1f1ff}",
    "Uppercase": UPPERCASE,
    "Variation_Selector": r"\x{180b}-\x{180d}\x{180f}\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}",
    "White_Space": (
        r"\x09-\x0d\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}"
        r"\x{3000}"
    ),
}


#: Enough for RE2 to keep every state of the largest property; let go after the scan.
#: With 1 MB it starts over again and again, and takes 2 s instead of 0.05 s.
SCAN_MEMORY = 8 << 20


def find_property(name: str, value: str | None) -> Ranges | None:
    r"""Return the code points of `\p{name}` or `\p{name=value}`.

    Returns None where ECMA-262 has the property and there is no data for it.
    Raises LookupError where ECMA-262 has no such property or value.
    """
    match name, value:
        case _, None if name in GENERAL_CATEGORIES:
            return list_category(GENERAL_CATEGORIES[name])
        case _, None:
            return list_members(MEMBERS.get(BINARY_PROPERTIES[name]))
        case (("General_Category" | "gc"), str()):
            return list_category(GENERAL_CATEGORIES[value])
        case (("Script" | "sc"), str()):
            return list_members(rf"\p{{{SCRIPTS[value]}}}")
        case (("Script_Extensions" | "scx"), str()) if value in SCRIPTS:
            return None
    raise LookupError(name)


def list_category(category: str) -> Ranges | None:
    return list_members(COMPOSITES.get(category, rf"\p{{{category}}}"))


# One entry for each of the few hundred properties, so that no pattern can push one out.
@cache
def list_members(members: str | None) -> Ranges | None:
    """Return the code points in the RE2 class of *members*, or None if RE2 lacks one of them."""
    automaton = members and build_automaton(f"[{members}]+", SCAN_MEMORY)
    if not automaton:
        return None
    data = spell_everything()
    return tuple(
        (ord(run[0]), ord(run[-1]))
        for start, end in automaton.find_spans(data)
        for run in [data[start:end].decode("utf-8", "surrogatepass")]
    )


@lru_cache(maxsize=1)
def spell_everything() -> bytes:
    """Return every code point in order, surrogates included, in UTF-8 (4.4 MB)."""
    return "".join(map(chr, range(LAST + 1))).encode("utf-8", "surrogatepass")
