"""Calls of models in the forms of several APIs, and their readers."""

import json
from typing import Any

from sidecheck_server.core.convert.model_call import ModelCall, read_model_call
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.limits import Limits

__all__ = [
    "ANTHROPIC",
    "BEDROCK",
    "BEDROCK_CALL",
    "CHAT",
    "GEMINI",
    "GEMINI_CALL",
    "GEMINI_JSON",
    "LIMITS",
    "MCP",
    "MISTRAL",
    "OLLAMA",
    "RESPONSES",
    "chat",
    "provider_of",
    "read",
    "responses",
    "tool_use",
]

CHAT, RESPONSES, ANTHROPIC = ModelApi.OPENAI_CHAT, ModelApi.OPENAI_RESPONSES, ModelApi.ANTHROPIC
GEMINI, GEMINI_JSON, BEDROCK = ModelApi.GEMINI, ModelApi.GEMINI_JSON, ModelApi.BEDROCK
MISTRAL, OLLAMA, MCP = ModelApi.MISTRAL, ModelApi.OLLAMA, ModelApi.MCP
LIMITS = Limits()


def provider_of(key: ModelApi) -> Provider:
    """Return the provider of that API."""
    return PROVIDERS[key]


def read(key: ModelApi, call: Any, limits: Limits = LIMITS) -> ModelCall:
    text = call if isinstance(call, bytes) else json.dumps(call).encode()
    return read_model_call(text, provider_of(key), limits)


def chat(arguments: Any, **fields: Any) -> dict[str, Any]:
    function = {"name": "t", "arguments": arguments}
    return {"id": "c1", "type": "function", "function": function, **fields}


def responses(arguments: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "t",
        "arguments": arguments,
        **fields,
    }


def tool_use(value: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "c1", "name": "t", "input": value, **fields}


GEMINI_CALL = {"id": "c1", "name": "t", "args": {"a": 1}}
BEDROCK_CALL = {"toolUseId": "c1", "name": "t", "input": {"a": 1}}
