"""Model providers, one module each: the facts about an API, and its JSON shapes."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.convert.providers import (
    anthropic,
    bedrock,
    gemini,
    mcp,
    mistral,
    ollama,
    openai,
)
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.types import ModelApi

__all__ = ["PROVIDERS"]

_ALL = (
    openai.CHAT,
    openai.RESPONSES,
    anthropic.MESSAGES,
    gemini.GEMINI,
    gemini.GEMINI_JSON,
    bedrock.CONVERSE,
    mistral.CHAT,
    ollama.CHAT,
    mcp.TOOLS,
)

PROVIDERS: Mapping[ModelApi, Provider] = MappingProxyType(
    {provider.key: provider for provider in _ALL}
)
"""Every provider by the key of its API."""
