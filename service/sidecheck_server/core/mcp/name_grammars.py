"""Grammars of tool names by model provider, and descriptions of characters."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

__all__ = [
    "ANTHROPIC",
    "BEDROCK",
    "GEMINI_LONGEST_EVERYWHERE",
    "LETTERS_TO_DASH_64",
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "PROVIDERS",
    "VERTEX",
    "NameGrammar",
    "ProviderGrammar",
    "ascii_lookalike",
    "describe_characters",
]


@dataclass(frozen=True, slots=True)
class NameGrammar:
    """Grammar of names: characters and length. The empty name is never allowed."""

    #: Largest length, in characters.
    longest: int
    #: Allowed characters, as a character class of a regular expression.
    characters: str
    #: Description of the allowed characters.
    description: str
    #: Character class of the first character; "" if it is the same as `characters`.
    first: str = ""
    #: Description of the first character.
    first_description: str = ""

    @property
    def allowed(self) -> str:
        """Description of the allowed names."""
        first_rule = f", the first {self.first_description}" if self.first else ""
        return f"1 to {self.longest} {self.description}{first_rule}"

    def invalid_character(self, name: str) -> str:
        """Return the first character of *name* that is not allowed at its position, or ""."""
        match = _compile_complement(self.characters).search(name)
        if match is None and self.first:
            match = _compile_complement(self.first).match(name)
        return match[0] if match is not None else ""

    def admits(self, name: str) -> bool:
        """Return whether *name* is allowed."""
        return 0 < len(name) <= self.longest and not self.invalid_character(name)

    def replace_invalid(self, name: str) -> str:
        """Return *name* with "_" in place of each invalid character, and "_" for "".

        If its first character is not allowed at the start, "_" precedes it. The grammar must
        allow "_" everywhere.
        """
        name = _compile_complement(self.characters).sub("_", name) or "_"
        has_invalid_start = self.first and _compile_complement(self.first).match(name)
        return f"_{name}" if has_invalid_start else name


@cache
def _compile_complement(characters: str) -> re.Pattern[str]:
    """Return the pattern of one character outside the character class *characters*."""
    return re.compile(f"[^{characters}]")


@dataclass(frozen=True, slots=True)
class ProviderGrammar:
    """Grammar of tool names of a model provider's API, by its documentation."""

    #: Code of the rule on names.
    code: str
    #: Name of the API, for example "Gemini's API".
    api: str
    grammar: NameGrammar
    #: URL of the documentation.
    source: str


_LETTERS_TO_DASH = ("A-Za-z0-9_-", 'ASCII letters, digits, "_" and "-"')
_LETTERS_TO_COLON = ("A-Za-z0-9_.:-", 'ASCII letters, digits, "_", ".", ":" and "-"')

LETTERS_TO_DASH_64 = NameGrammar(64, *_LETTERS_TO_DASH)
_LETTERS_TO_DASH_128 = NameGrammar(128, *_LETTERS_TO_DASH)

# Source: the documentation in November 2026.
OPENAI_CHAT = ProviderGrammar(
    "TOOL_NAME_OPENAI_CHAT",
    "OpenAI's Chat Completions API",
    LETTERS_TO_DASH_64,
    "https://platform.openai.com/docs/api-reference/chat/create",
)
OPENAI_RESPONSES = ProviderGrammar(
    "TOOL_NAME_OPENAI_RESPONSES",
    "OpenAI's Responses API",
    _LETTERS_TO_DASH_128,
    "https://platform.openai.com/docs/api-reference/responses/create",
)
ANTHROPIC = ProviderGrammar(
    "TOOL_NAME_ANTHROPIC",
    "Anthropic's Messages API",
    _LETTERS_TO_DASH_128,
    "https://platform.claude.com/docs/en/api/messages/create",
)
# The guide is stricter than the reference, and clients follow the guide.
_ANTHROPIC_GUIDE = ProviderGrammar(
    "TOOL_NAME_ANTHROPIC_GUIDE",
    "Anthropic's guide to tools",
    LETTERS_TO_DASH_64,
    "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools",
)
# The discovery document of v1beta agrees (revision 20260816, as public code quotes it).
_GEMINI = ProviderGrammar(
    "TOOL_NAME_GEMINI",
    "Gemini's API",
    NameGrammar(128, *_LETTERS_TO_COLON),
    "https://ai.google.dev/api/caching#FunctionDeclaration",
)
# google-genai 3.4.0, types.py, FunctionDeclaration.name, agrees (read 2026-11-22).
VERTEX = ProviderGrammar(
    "TOOL_NAME_VERTEX",
    "Gemini on Vertex AI",
    NameGrammar(128, *_LETTERS_TO_COLON, "A-Za-z_", 'a letter or "_"'),
    "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling",
)

GEMINI_LONGEST_EVERYWHERE = 64
"""Longest name that every deployment of Gemini accepts, whatever its documents allow.

Older documents state 64, and the API rejected longer names in January and March 2026
(https://github.com/Yeachan-Heo/oh-my-claudecode/issues/235 quotes its error on 2026-01-31;
https://github.com/google-gemini/gemini-cli/pull/20987, of 2026-03-03). On 2026-11-28 no later
report of an accepted longer name was known.
"""

BEDROCK = ProviderGrammar(
    "TOOL_NAME_BEDROCK",
    "Amazon Bedrock's Converse API",
    LETTERS_TO_DASH_64,
    "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html",
)

PROVIDERS = (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, _ANTHROPIC_GUIDE, _GEMINI, VERTEX, BEDROCK)
"""Grammars that the rules compare tool names with."""


#: Characters that most fonts draw like an ASCII character: Cyrillic, Greek, Armenian and Latin
#: letters, dashes, dots and low lines. Source: Unicode Technical Standard 39, "Unicode Security
#: Mechanisms", confusables.txt. Escapes make them distinguishable in this file.
_LOOKALIKES = {
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

_ASCII_LOOKALIKES: Mapping[str, str] = MappingProxyType(
    {character: ascii_ for ascii_, characters in _LOOKALIKES.items() for character in characters}
)


def ascii_lookalike(character: str) -> str:
    """Return the ASCII character that *character* looks like, or "".

    Compatibility decomposition (NFKC) finds wide, mathematical and circled forms.
    """
    if character.isascii():
        return ""
    lookalike = _ASCII_LOOKALIKES.get(character)
    if lookalike is not None:
        return lookalike
    decomposed = unicodedata.normalize("NFKC", character)
    is_one_ascii = len(decomposed) == 1 and decomposed.isascii() and decomposed.isprintable()
    return decomposed if is_one_ascii else ""


def describe_characters(characters: Iterable[str]) -> list[str]:
    """Return descriptions of *characters* such as ``"é" (U+00E9 ...)``."""
    return [_describe(character) for character in characters]


@lru_cache(maxsize=4096)
def _describe(character: str) -> str:
    name = unicodedata.name(character, "")
    code = f"U+{ord(character):04X}"
    if character.isascii() and character.isprintable():
        return f'"{character}"' if character not in ' "' else f"a {name.lower()}"
    quoted = f'"{character}" ' if character.isprintable() else ""
    lookalike = ascii_lookalike(character)
    resemblance = f', which looks like "{lookalike}"' if lookalike.strip() else ""
    return (
        f"{quoted}({code}{' ' + name if name else ''}{resemblance})"
        if quoted
        else code + (f" ({name})" if name else "")
    )
