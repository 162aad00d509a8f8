"""Tool result messages of each model API, and their losses."""

import json
from typing import Any

from providers import validate_result
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.result_message import convert_result
from sidecheck_server.core.convert.types import Action, Effect, Loss, ModelApi

__all__ = [
    "ANTHROPIC",
    "BEDROCK",
    "CALL_ID",
    "CHAT",
    "GEMINI",
    "GEMINI_JSON",
    "MCP",
    "MISTRAL",
    "MODELS",
    "NAME",
    "NOT_SHOWN",
    "OLLAMA",
    "RESPONSES",
    "answer",
    "block",
    "loss",
    "message_of",
    "omitted_part",
    "text_message",
]

CHAT, RESPONSES, ANTHROPIC, GEMINI, GEMINI_JSON, BEDROCK, MISTRAL, OLLAMA, MCP = ModelApi

MODELS = tuple(api for api in ModelApi if api is not MCP)
"""APIs of models; for MCP, a result stays as it is."""

# Mistral's ids have nine characters.
CALL_ID = "call12345"
NAME = "weather_get"

NOT_SHOWN = "not accepted by the provider; its type and size are sent as text"


def loss(pointer: str, action: Action, message: str) -> Loss:
    """Return a loss at a location of a result."""
    return Loss(pointer, "", action, Effect.EQUIVALENT, message)


def omitted_part(pointer: str) -> Loss:
    """Return the loss of a part that the model does not see."""
    return loss(pointer, Action.DROPPED, "not sent to the model")


def block(text: str) -> dict[str, Any]:
    """Return a block of text, in the form of MCP, Chat, Anthropic and Mistral."""
    return {"type": "text", "text": text}


def answer(api: ModelApi, body: Any, **fields: Any) -> dict[str, Any]:
    """Return the message of *api* with that *body*, with further *fields*."""
    function = {"id": CALL_ID, "name": NAME, "response": body, **fields}
    messages: dict[ModelApi, dict[str, Any]] = {
        CHAT: {"role": "tool", "tool_call_id": CALL_ID, "content": body},
        RESPONSES: {"type": "function_call_output", "call_id": CALL_ID, "output": body},
        ANTHROPIC: {"type": "tool_result", "tool_use_id": CALL_ID, "content": body, **fields},
        GEMINI: {"functionResponse": function},
        GEMINI_JSON: {"functionResponse": function},
        BEDROCK: {"toolResult": {"toolUseId": CALL_ID, "content": body, **fields}},
        MISTRAL: {"role": "tool", "tool_call_id": CALL_ID, "content": body, "name": NAME},
        OLLAMA: {"role": "tool", "tool_name": NAME, "content": body, "tool_call_id": CALL_ID},
        MCP: {"content": body, **fields},
    }
    return messages[api]


def text_message(api: ModelApi, text: str) -> dict[str, Any]:
    """Return the message of *api* for a successful result of one text."""
    if api in (GEMINI, GEMINI_JSON):
        return answer(api, {"output": text})
    return answer(api, [{"text": text}] if api is BEDROCK else text)


def message_of(result: dict[str, Any], api: ModelApi) -> tuple[Any, tuple[Loss, ...]]:
    """Return the message for *result* and its losses; check it with the vendor's types."""
    message, losses = convert_result(result, PROVIDERS[api], CALL_ID, NAME)
    validate_result(api, message)
    return json.loads(message), losses
