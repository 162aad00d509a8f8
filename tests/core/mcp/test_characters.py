"""Characters in words, and what they look like."""

import pytest
from sidecheck_server.core.mcp.name_grammars import ascii_lookalike, describe_characters

ALIKE = {
    "\N{CYRILLIC SMALL LETTER A}": "a",
    "\N{CYRILLIC CAPITAL LETTER HA}": "X",
    "\N{GREEK SMALL LETTER OMICRON}": "o",
    "\N{FULLWIDTH LATIN SMALL LETTER Z}": "z",
    "\N{MATHEMATICAL BOLD CAPITAL Q}": "Q",
    "\N{CIRCLED DIGIT SEVEN}": "7",
    "\N{EN DASH}": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{FULLWIDTH LOW LINE}": "_",
    "\N{LATIN SMALL LETTER E WITH ACUTE}": "",
    "\N{CJK UNIFIED IDEOGRAPH-6771}": "",
    "\N{LATIN SMALL LIGATURE FI}": "",
    "a": "",
    " ": "",
}

NAMED = {
    "!": '"!"',
    " ": "a space",
    '"': "a quotation mark",
    "\n": "U+000A",
    "\N{LATIN SMALL LETTER E WITH ACUTE}": '"é" (U+00E9 LATIN SMALL LETTER E WITH ACUTE)',
    "\N{CYRILLIC SMALL LETTER A}": (
        '"\N{CYRILLIC SMALL LETTER A}" (U+0430 CYRILLIC SMALL LETTER A, which looks like "a")'
    ),
    "\N{RIGHT-TO-LEFT OVERRIDE}": "U+202E (RIGHT-TO-LEFT OVERRIDE)",
    "\N{NO-BREAK SPACE}": "U+00A0 (NO-BREAK SPACE)",
    "\ue000": "U+E000",
}


@pytest.mark.parametrize(("character", "ascii_"), ALIKE.items(), ids=ascii)
def test_what_a_character_looks_like(character: str, ascii_: str) -> None:
    assert ascii_ == ascii_lookalike(character)


@pytest.mark.parametrize(("character", "message"), NAMED.items(), ids=ascii)
def test_a_character_in_words(character: str, message: str) -> None:
    assert [message] == describe_characters([character])
