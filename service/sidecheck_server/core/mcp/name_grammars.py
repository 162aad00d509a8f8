"""Grammars of tool names: what those who take tools allow."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

__all__ = ["PROVIDERS", "NameGrammar", "ProviderGrammar", "look_alike", "named"]


@dataclass(frozen=True, slots=True)
class NameGrammar:
    """Which names somebody allows: none that is empty."""

    #: How many characters, at the most.
    longest: int
    #: The characters allowed, as members of a class in a regular expression.
    members: str
    #: The same for a person.
    in_words: str
    #: The members that may stand first, if fewer.
    first: str = ""
    first_in_words: str = ""

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        first = f", the first {self.first_in_words}" if self.first else ""
        return f"1 to {self.longest} {self.in_words}{first}"

    def alien_in(self, name: str) -> str:
        """Return the first character of *name* that is not allowed where it stands, or ""."""
        alien = _other_than(self.members).search(name)
        if alien is None and self.first:
            alien = _other_than(self.first).match(name)
        return alien[0] if alien is not None else ""

    def admits(self, name: str) -> bool:
        """Return whether *name* is allowed."""
        return 0 < len(name) <= self.longest and not self.alien_in(name)

    def with_replaced(self, name: str) -> str:
        """Return *name* with "_" for each character that is not allowed; "" becomes "_".

        If what comes first may not stand there, "_" comes before it. The grammar allows
        "_", and allows it first.
        """
        name = _other_than(self.members).sub("_", name) or "_"
        first = self.first and _other_than(self.first).match(name)
        return f"_{name}" if first else name


@cache
def _other_than(members: str) -> re.Pattern[str]:
    """Return the pattern of one character that is none of *members*, of a grammar told here."""
    return re.compile(f"[^{members}]")


@dataclass(frozen=True, slots=True)
class ProviderGrammar:
    """What the API of a provider of models allows, by its documentation."""

    #: The code of the rule.
    code: str
    #: The API, as in "Gemini's API".
    api: str
    grammar: NameGrammar
    #: The address of the documentation.
    source: str


_LETTERS_TO_DASH = ("A-Za-z0-9_-", 'ASCII letters, digits, "_" and "-"')
_LETTERS_TO_COLON = ("A-Za-z0-9_.:-", 'ASCII letters, digits, "_", ".", ":" and "-"')

#: As documented in November 2026.
PROVIDERS = (
    ProviderGrammar(
        "TOOL_NAME_OPENAI_CHAT",
        "OpenAI's Chat Completions API",
        NameGrammar(64, *_LETTERS_TO_DASH),
        "https://platform.openai.com/docs/api-reference/chat/create",
    ),
    ProviderGrammar(
        "TOOL_NAME_OPENAI_RESPONSES",
        "OpenAI's Responses API",
        NameGrammar(128, *_LETTERS_TO_DASH),
        "https://platform.openai.com/docs/api-reference/responses/create",
    ),
    ProviderGrammar(
        "TOOL_NAME_ANTHROPIC",
        "Anthropic's Messages API",
        NameGrammar(128, *_LETTERS_TO_DASH),
        "https://platform.claude.com/docs/en/api/messages/create",
    ),
    # The guide says less than the reference, and clients were written by it.
    ProviderGrammar(
        "TOOL_NAME_ANTHROPIC_GUIDE",
        "Anthropic's guide to tools",
        NameGrammar(64, *_LETTERS_TO_DASH),
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools",
    ),
    ProviderGrammar(
        "TOOL_NAME_GEMINI",
        "Gemini's API",
        NameGrammar(128, *_LETTERS_TO_COLON),
        "https://ai.google.dev/api/caching#FunctionDeclaration",
    ),
    ProviderGrammar(
        "TOOL_NAME_VERTEX",
        "Gemini on Vertex AI",
        NameGrammar(128, *_LETTERS_TO_COLON, "A-Za-z_", 'a letter or "_"'),
        "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling",
    ),
    ProviderGrammar(
        "TOOL_NAME_BEDROCK",
        "Amazon Bedrock's Converse API",
        NameGrammar(64, *_LETTERS_TO_DASH),
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html",
    ),
)


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
