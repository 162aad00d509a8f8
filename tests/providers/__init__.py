"""Shapes held against the published types of providers: one module for each vendor.

Each checker raises if its argument, a JSON text, is none that the vendor's own package
would send; for the meaning of schemas in it no package has a type.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias

from sidecheck_server.core.convert.words import ModelApi

__all__ = ["RESULTS", "TOOLS", "Checker", "validate_result", "validate_tool"]

Checker: TypeAlias = Callable[[bytes], None]


def _checker(module: str, function: str) -> Checker:
    """Return a checker that imports its vendor's package, which takes seconds, when called."""

    def check(text: bytes) -> None:
        getattr(import_module(f"providers.{module}"), function)(text)

    return check


TOOLS: Mapping[ModelApi, Checker] = MappingProxyType(
    {
        ModelApi.OPENAI_CHAT: _checker("openai_types", "validate_chat_tool"),
        ModelApi.OPENAI_RESPONSES: _checker("openai_types", "validate_responses_tool"),
        ModelApi.ANTHROPIC: _checker("anthropic_types", "validate_tool"),
        ModelApi.GEMINI: _checker("gemini_types", "validate_tool"),
        ModelApi.GEMINI_JSON: _checker("gemini_types", "validate_tool"),
        ModelApi.BEDROCK: _checker("bedrock_types", "validate_tool"),
        ModelApi.MISTRAL: _checker("mistral_types", "validate_tool"),
        ModelApi.OLLAMA: _checker("ollama_types", "validate_tool"),
    }
)

RESULTS: Mapping[ModelApi, Checker] = MappingProxyType(
    {
        ModelApi.OPENAI_CHAT: _checker("openai_types", "validate_chat_result"),
        ModelApi.OPENAI_RESPONSES: _checker("openai_types", "validate_responses_result"),
        ModelApi.ANTHROPIC: _checker("anthropic_types", "validate_result"),
        ModelApi.GEMINI: _checker("gemini_types", "validate_result"),
        ModelApi.GEMINI_JSON: _checker("gemini_types", "validate_result"),
        ModelApi.BEDROCK: _checker("bedrock_types", "validate_result"),
        ModelApi.MISTRAL: _checker("mistral_types", "validate_result"),
        ModelApi.OLLAMA: _checker("ollama_types", "validate_result"),
    }
)


def validate_tool(api: ModelApi, text: bytes) -> None:
    """Raise if *text* is no tool of *api* by the types of its vendor."""
    TOOLS[api](text)


def validate_result(api: ModelApi, text: bytes) -> None:
    """Raise if *text* is no answer to a call of *api* by the types of its vendor."""
    RESULTS[api](text)
