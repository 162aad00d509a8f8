"""The message of each API that answers a call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck_server.core.convert.words import ModelApi

__all__ = ["MESSAGES", "Answer", "Item"]

Item: TypeAlias = str | dict[str, Any]
"""A text, or media in the JSON of the API."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What answers a call."""

    call_id: str
    name: str
    #: Never empty.
    items: list[Item]
    failed: bool


def _typed(items: list[Item], type_: str) -> str | list[dict[str, Any]]:
    """Return the one text in *items*, or else all of them as parts, texts of that *type*."""
    first = items[0]
    if len(items) == 1 and isinstance(first, str):
        return first
    return [{"type": type_, "text": item} if isinstance(item, str) else item for item in items]


def _chat(answer: Answer) -> dict[str, Any]:
    content = _typed(answer.items, "text")
    return {"role": "tool", "tool_call_id": answer.call_id, "content": content}


def _responses(answer: Answer) -> dict[str, Any]:
    output = _typed(answer.items, "input_text")
    return {"type": "function_call_output", "call_id": answer.call_id, "output": output}


def _anthropic(answer: Answer) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": answer.call_id}
    block["content"] = _typed(answer.items, "text")
    if answer.failed:
        block["is_error"] = True
    return block


def _gemini(answer: Answer) -> dict[str, Any]:
    texts = [item for item in answer.items if isinstance(item, str)]
    parts = [item for item in answer.items if not isinstance(item, str)]
    # Text, not the structured content itself: as a protobuf Struct its integers are doubles.
    text = "\n\n".join(texts) or "The output is attached."
    response: dict[str, Any] = {"id": answer.call_id} if answer.call_id else {}
    response["name"] = answer.name
    response["response"] = {"error" if answer.failed else "output": text}
    if parts:
        response["parts"] = parts
    return {"functionResponse": response}


def _bedrock(answer: Answer) -> dict[str, Any]:
    content = [{"text": item} if isinstance(item, str) else item for item in answer.items]
    result: dict[str, Any] = {"toolUseId": answer.call_id, "content": content}
    # Without it, success is meant; only some families of models take it at all (botocore
    # 1.44.5, ToolResultBlock.status).
    if answer.failed:
        result["status"] = "error"
    return {"toolResult": result}


def _mistral(answer: Answer) -> dict[str, Any]:
    message = _chat(answer)
    return {**message, "name": answer.name} if answer.name else message


def _ollama(answer: Answer) -> dict[str, Any]:
    text = "\n\n".join(item for item in answer.items if isinstance(item, str))
    message = {"role": "tool", "tool_name": answer.name, "content": text}
    return {**message, "tool_call_id": answer.call_id} if answer.call_id else message


MESSAGES: Mapping[ModelApi, Callable[[Answer], dict[str, Any]]] = MappingProxyType(
    {
        ModelApi.OPENAI_CHAT: _chat,
        ModelApi.OPENAI_RESPONSES: _responses,
        ModelApi.ANTHROPIC: _anthropic,
        ModelApi.GEMINI: _gemini,
        ModelApi.GEMINI_JSON: _gemini,
        ModelApi.BEDROCK: _bedrock,
        ModelApi.MISTRAL: _mistral,
        ModelApi.OLLAMA: _ollama,
    }
)
"""What makes the message, by API."""
