"""What each API takes, as data: one table for each vendor."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.convert.apis import (
    anthropic,
    bedrock,
    gemini,
    mistral,
    ollama,
    openai,
)
from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.words import ModelApi

__all__ = ["APIS"]

_ALL = (
    openai.CHAT,
    openai.RESPONSES,
    anthropic.MESSAGES,
    gemini.GEMINI,
    gemini.GEMINI_JSON,
    bedrock.CONVERSE,
    mistral.CHAT,
    ollama.CHAT,
)

APIS: Mapping[ModelApi, Api] = MappingProxyType({api.key: api for api in _ALL})
"""Every API by its key."""
