"""Checks of JSON text against the published types of model providers.

A checker raises an error if the vendor's package could not send its argument. No package has
types for the contents of schemas.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from sidecheck_server.core.convert.types import ModelApi

from providers import (
    anthropic_types,
    bedrock_types,
    gemini_types,
    mistral_types,
    ollama_types,
    openai_types,
)

__all__ = ["RESULTS", "TOOLS", "Checker", "validate_result", "validate_tool"]

Checker: TypeAlias = Callable[[bytes], None]

TOOLS: Mapping[ModelApi, Checker] = MappingProxyType(
    {
        ModelApi.OPENAI_CHAT: openai_types.validate_chat_tool,
        ModelApi.OPENAI_RESPONSES: openai_types.validate_responses_tool,
        ModelApi.ANTHROPIC: anthropic_types.validate_tool,
        ModelApi.GEMINI: gemini_types.validate_tool,
        ModelApi.GEMINI_JSON: gemini_types.validate_tool,
        ModelApi.BEDROCK: bedrock_types.validate_tool,
        ModelApi.MISTRAL: mistral_types.validate_tool,
        ModelApi.OLLAMA: ollama_types.validate_tool,
    }
)

RESULTS: Mapping[ModelApi, Checker] = MappingProxyType(
    {
        ModelApi.OPENAI_CHAT: openai_types.validate_chat_result,
        ModelApi.OPENAI_RESPONSES: openai_types.validate_responses_result,
        ModelApi.ANTHROPIC: anthropic_types.validate_result,
        ModelApi.GEMINI: gemini_types.validate_result,
        ModelApi.GEMINI_JSON: gemini_types.validate_result,
        ModelApi.BEDROCK: bedrock_types.validate_result,
        ModelApi.MISTRAL: mistral_types.validate_result,
        ModelApi.OLLAMA: ollama_types.validate_result,
    }
)


def validate_tool(api: ModelApi, text: bytes) -> None:
    """Raise if *text* is not a tool of *api* by the types of its vendor."""
    TOOLS[api](text)


def validate_result(api: ModelApi, text: bytes) -> None:
    """Raise if *text* is not a result for *api* by the types of its vendor."""
    RESULTS[api](text)
