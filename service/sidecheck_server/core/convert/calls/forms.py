"""The forms of calls: where each API puts the name, the id and the arguments of one.

- OpenAI's Chat Completions and Responses: openai-openapi, ``openapi.yaml``, at 2026-08-21:
  ``ChatCompletionMessageToolCall`` and ``FunctionToolCall``. A call of Responses has an
  ``id`` as an item, and a ``call_id`` by which its output is paired with it.
- Anthropic: ``types/tool_use_block.py`` of anthropic 2.12.0.
- Gemini: ``types.FunctionCall`` of google-genai 3.4.0, which writes a part as
  ``function_call`` unless it is asked for the names of the API; id and args are optional.
- Bedrock: ``ToolUseBlock`` of ``bedrock-runtime``, botocore 1.44.5.
- Mistral: ``functioncall.py`` of mistralai 3.7.0: arguments are an object or a string.
- Ollama: ``Message.ToolCall`` of ollama 0.6.3; servers since then give an id as well.

Servers that speak the form of Chat Completions have given arguments as an object
(ggml-org/llama.cpp, issue 20198, 2026-03). It has one meaning, so it is taken.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from sidecheck_server.core.convert.words import ModelApi

__all__ = ["FORMS", "Arguments", "CallForm"]


class Arguments(Enum):
    """What arguments are."""

    TEXT = "the JSON text of an object"
    OBJECT = "an object"
    EITHER = "an object, or the JSON text of one"


@dataclass(frozen=True, slots=True)
class CallForm:
    """The form in which an API gives a call; places are names of members, one in the other."""

    name: tuple[str, ...]
    id: tuple[str, ...]
    arguments: tuple[str, ...]
    arguments_are: Arguments
    #: What it is, for a person.
    in_words: str
    #: The member, by any of its names, that may have the whole call in it.
    wrappers: tuple[str, ...] = ()


_FUNCTION, _NAME = "function", ("function", "name")
_ELEMENT = "an element of `tool_calls`"
_CHAT = CallForm(_NAME, ("id",), (_FUNCTION, "arguments"), Arguments.EITHER, _ELEMENT)
_GEMINI = CallForm(
    ("name",),
    ("id",),
    ("args",),
    Arguments.OBJECT,
    "a `functionCall` part",
    ("functionCall", "function_call"),
)

FORMS: Mapping[ModelApi, CallForm] = {
    ModelApi.OPENAI_CHAT: _CHAT,
    ModelApi.OPENAI_RESPONSES: CallForm(
        ("name",), ("call_id",), ("arguments",), Arguments.TEXT, "a `function_call` item"
    ),
    ModelApi.ANTHROPIC: CallForm(
        ("name",), ("id",), ("input",), Arguments.OBJECT, "a `tool_use` block"
    ),
    ModelApi.GEMINI: _GEMINI,
    ModelApi.GEMINI_JSON: _GEMINI,
    ModelApi.BEDROCK: CallForm(
        ("name",), ("toolUseId",), ("input",), Arguments.OBJECT, "a `toolUse` part", ("toolUse",)
    ),
    ModelApi.MISTRAL: _CHAT,
    ModelApi.OLLAMA: CallForm(_NAME, ("id",), (_FUNCTION, "arguments"), Arguments.OBJECT, _ELEMENT),
}
"""The form of calls of each API."""
