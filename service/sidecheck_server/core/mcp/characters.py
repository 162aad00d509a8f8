"""Characters that names should not have, in words: above all those that look like others."""

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

__all__ = ["look_alike", "named"]

#: What most fonts draw as they do an ASCII letter or mark: Cyrillic, Greek, Armenian and
#: Latin letters, dashes, dots and low lines. After Unicode Technical Standard 39,
#: "Unicode Security Mechanisms", confusables.txt. Escaped, so that readers see which is which.
_DRAWN_AS = {
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58",
    ".": "\u2024",
    "A": "\u0410\u0391",
    "B": "\u0412\u0392",
    "C": "\u0421",
    "E": "\u0415\u0395",
    "H": "\u041d\u0397",
    "I": "\u0406\u04c0\u0399",
    "J": "\u0408",
    "K": "\u041a\u039a",
    "M": "\u041c\u039c",
    "N": "\u039d",
    "O": "\u041e\u039f",
    "P": "\u0420\u03a1",
    "S": "\u0405",
    "T": "\u0422\u03a4",
    "X": "\u0425\u03a7",
    "Y": "\u04ae\u03a5",
    "Z": "\u0396",
    "_": "\u2017\u02cd",
    "a": "\u0430\u03b1\u0251",
    "c": "\u0441",
    "d": "\u0501",
    "e": "\u0435",
    "g": "\u0261",
    "h": "\u04bb\u0570",
    "i": "\u0456\u03b9\u0131",
    "j": "\u0458",
    "k": "\u043a",
    "l": "\u04cf",
    "n": "\u0578",
    "o": "\u043e\u03bf\u0585",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "s": "\u0455",
    "u": "\u03c5\u057d",
    "v": "\u03bd",
    "w": "\u051d",
    "x": "\u0445",
    "y": "\u0443\u03b3",
}

_ASCII_OF: Mapping[str, str] = MappingProxyType(
    {each: drawn_as for drawn_as, several in _DRAWN_AS.items() for each in several}
)


def look_alike(character: str) -> str:
    """Return the ASCII letter, digit or mark that *character* looks like, or "".

    Wide, mathematical and circled forms are told by their compatibility decomposition.
    """
    if character.isascii():
        return ""
    known = _ASCII_OF.get(character)
    if known is not None:
        return known
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 and plain.isascii() and plain.isprintable() else ""


def named(characters: Iterable[str]) -> list[str]:
    """Return each of *characters* with its name, as in ``"é" (U+00E9 ...)``."""
    return [_named(each) for each in characters]


@lru_cache(maxsize=4096)
def _named(character: str) -> str:
    name = unicodedata.name(character, "")
    code = f"U+{ord(character):04X}"
    if character.isascii() and character.isprintable():
        return f'"{character}"' if character not in ' "' else f"a {name.lower()}"
    shown = f'"{character}" ' if character.isprintable() else ""
    alike = look_alike(character)
    looks = f', which looks like "{alike}"' if alike.strip() else ""
    return (
        f"{shown}({code}{' ' + name if name else ''}{looks})"
        if shown
        else code + (f" ({name})" if name else "")
    )
