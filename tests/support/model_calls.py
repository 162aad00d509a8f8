"""Calls that models make, in the forms of several APIs, and how they are read."""

import json
from typing import Any

from sidecheck_server.core.convert.apis.api import Api, RequestLimits, Subset
from sidecheck_server.core.convert.calls import (
    read_call,
)
from sidecheck_server.core.convert.calls.reading import ModelCall
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.name_grammars import NameGrammar

__all__ = [
    "ANTHROPIC",
    "BEDROCK",
    "BEDROCK_CALL",
    "CHAT",
    "GEMINI",
    "GEMINI_CALL",
    "GEMINI_JSON",
    "LIMITS",
    "MISTRAL",
    "OLLAMA",
    "RESPONSES",
    "api_of",
    "chat",
    "read",
    "responses",
    "tool_use",
]

CHAT, RESPONSES, ANTHROPIC = ModelApi.OPENAI_CHAT, ModelApi.OPENAI_RESPONSES, ModelApi.ANTHROPIC
GEMINI, GEMINI_JSON, BEDROCK = ModelApi.GEMINI, ModelApi.GEMINI_JSON, ModelApi.BEDROCK
MISTRAL, OLLAMA = ModelApi.MISTRAL, ModelApi.OLLAMA
LIMITS = Limits()
GRAMMAR = NameGrammar(64, "A-Za-z0-9_-", "letters, digits, underscores and dashes")


def api_of(key: ModelApi) -> Api:
    """Return as much of an API as calls need."""
    return Api(
        key=key,
        in_words="an API",
        names=GRAMMAR,
        members=None,
        compatible=Subset(),
        strict=None,
        request=RequestLimits(),
        sources=(),
        arguments_may_lack=key in {GEMINI, GEMINI_JSON},
    )


def read(key: ModelApi, call: Any, limits: Limits = LIMITS) -> ModelCall:
    text = call if isinstance(call, bytes) else json.dumps(call).encode()
    return read_call(text, api_of(key), limits)


def chat(arguments: Any, **more: Any) -> dict[str, Any]:
    function = {"name": "t", "arguments": arguments}
    return {"id": "c1", "type": "function", "function": function, **more}


def responses(arguments: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "t",
        "arguments": arguments,
        **more,
    }


def tool_use(value: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "c1", "name": "t", "input": value, **more}


GEMINI_CALL = {"id": "c1", "name": "t", "args": {"a": 1}}
BEDROCK_CALL = {"toolUseId": "c1", "name": "t", "input": {"a": 1}}
