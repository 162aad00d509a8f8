"""ASCII lookalikes and descriptions of characters."""

import pytest
from sidecheck_server.core.mcp.name_grammars import ascii_lookalike, describe_characters

LOOKALIKES = {
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

DESCRIPTIONS = {
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


@pytest.mark.parametrize(("character", "ascii_"), LOOKALIKES.items(), ids=ascii)
def test_ascii_lookalike(character: str, ascii_: str) -> None:
    assert ascii_ == ascii_lookalike(character)


@pytest.mark.parametrize(("character", "description"), DESCRIPTIONS.items(), ids=ascii)
def test_character_description(character: str, description: str) -> None:
    assert [description] == describe_characters([character])
