"""Checks of JSON text against the published types of model providers.

A checker raises an error if the vendor's package could not send its argument. No package has
types for the contents of schemas.

The packages take seconds to import, so a checker is imported when it is first used.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from sidecheck_server.core.convert.types import ModelApi

__all__ = ["RESULTS", "TOOLS", "validate_result", "validate_tool"]

#: The module of this package, and the function in it.
TOOLS: Mapping[ModelApi, tuple[str, str]] = MappingProxyType(
    {
        ModelApi.OPENAI_CHAT: ("openai_types", "validate_chat_tool"),
        ModelApi.OPENAI_RESPONSES: ("openai_types", "validate_responses_tool"),
        ModelApi.ANTHROPIC: ("anthropic_types", "validate_tool"),
        ModelApi.GEMINI: ("gemini_types", "validate_tool"),
        ModelApi.GEMINI_JSON: ("gemini_types", "validate_tool"),
        ModelApi.BEDROCK: ("bedrock_types", "validate_tool"),
        ModelApi.MISTRAL: ("mistral_types", "validate_tool"),
        ModelApi.OLLAMA: ("ollama_types", "validate_tool"),
    }
)

RESULTS: Mapping[ModelApi, tuple[str, str]] = MappingProxyType(
    {
        ModelApi.OPENAI_CHAT: ("openai_types", "validate_chat_result"),
        ModelApi.OPENAI_RESPONSES: ("openai_types", "validate_responses_result"),
        ModelApi.ANTHROPIC: ("anthropic_types", "validate_result"),
        ModelApi.GEMINI: ("gemini_types", "validate_result"),
        ModelApi.GEMINI_JSON: ("gemini_types", "validate_result"),
        ModelApi.BEDROCK: ("bedrock_types", "validate_result"),
        ModelApi.MISTRAL: ("mistral_types", "validate_result"),
        ModelApi.OLLAMA: ("ollama_types", "validate_result"),
    }
)


def validate_tool(api: ModelApi, text: bytes) -> None:
    """Raise if *text* is not a tool of *api* by the types of its vendor."""
    _validate(TOOLS[api], text)


def validate_result(api: ModelApi, text: bytes) -> None:
    """Raise if *text* is not a result for *api* by the types of its vendor."""
    _validate(RESULTS[api], text)


def _validate(checker: tuple[str, str], text: bytes) -> None:
    module, function = checker
    getattr(import_module(f"providers.{module}"), function)(text)
