"""Grammars of tool names: what those who take tools allow."""

import re
from dataclasses import dataclass
from functools import cache

__all__ = ["PROVIDERS", "NameGrammar", "ProviderGrammar"]


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
