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
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi

__all__ = ["PROVIDERS", "find_provider"]

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


def find_provider(api: ModelApi, options: ConversionOptions) -> Provider:
    """Return the provider of *api*; that of MCP clients depends on the targets in *options*."""
    if api is ModelApi.MCP and options.targets:
        return mcp.portable_provider(options.targets)
    return PROVIDERS[api]
