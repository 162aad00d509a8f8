"""OpenAI: request types of its Python package."""

from typing import Any

from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionToolMessageParam
from openai.types.responses import FunctionToolParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter

from providers.exactly import read_exactly

__all__ = [
    "validate_chat_result",
    "validate_chat_tool",
    "validate_responses_result",
    "validate_responses_tool",
]

_CHAT_TOOL: TypeAdapter[Any] = TypeAdapter(ChatCompletionFunctionToolParam)
_CHAT_RESULT: TypeAdapter[Any] = TypeAdapter(ChatCompletionToolMessageParam)
_TOOL: TypeAdapter[Any] = TypeAdapter(FunctionToolParam)
_RESULT: TypeAdapter[Any] = TypeAdapter(FunctionCallOutput)


def validate_chat_tool(text: bytes) -> None:
    """Raise if *text* is not an element of ``tools`` of Chat Completions."""
    read_exactly(_CHAT_TOOL, text)


def validate_chat_result(text: bytes) -> None:
    """Raise if *text* is not a message with the role ``tool``."""
    read_exactly(_CHAT_RESULT, text)


def validate_responses_tool(text: bytes) -> None:
    """Raise if *text* is not an element of ``tools`` of Responses."""
    read_exactly(_TOOL, text)


def validate_responses_result(text: bytes) -> None:
    """Raise if *text* is not an item ``function_call_output``."""
    read_exactly(_RESULT, text)
