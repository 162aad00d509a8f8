"""Grammars of tool names: what those who take tools allow."""

import re
from dataclasses import dataclass

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

    def alien_in(self, name: str) -> str:
        """Return the first character of *name* that is not allowed where it stands, or ""."""
        alien = re.search(f"[^{self.members}]", name)
        if alien is None and self.first:
            alien = re.match(f"[^{self.first}]", name)
        return alien[0] if alien is not None else ""


@dataclass(frozen=True, slots=True)
class ProviderGrammar:
    """What the API of a provider of models allows, by its documentation."""

    #: The code of the rule.
    code: str
    #: The API, as in "the Gemini API".
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
        "Anthropic's guide to tools, and older clients of its API",
        NameGrammar(64, *_LETTERS_TO_DASH),
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools",
    ),
    ProviderGrammar(
        "TOOL_NAME_GEMINI",
        "the Gemini API",
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
        "the Converse API of Amazon Bedrock",
        NameGrammar(64, *_LETTERS_TO_DASH),
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html",
    ),
)
