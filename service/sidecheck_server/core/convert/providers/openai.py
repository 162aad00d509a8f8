"""OpenAI: Chat Completions and Responses."""

from typing import Any

import msgspec

from sidecheck_server.core.convert.call_ids import CallIdGrammar
from sidecheck_server.core.convert.providers.provider import (
    PDF,
    WEB_IMAGES,
    Arguments,
    CallShape,
    Media,
    Provider,
    RequestLimits,
    Source,
    ToolDeclaration,
    ToolResult,
)
from sidecheck_server.core.convert.providers.subset import (
    Patterns,
    References,
    SchemaLimits,
    Subset,
)
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.mcp.name_grammars import OPENAI_CHAT, OPENAI_RESPONSES

__all__ = [
    "CHAT",
    "CHAT_CALL",
    "COMPATIBLE",
    "RESPONSES",
    "STRICT",
    "write_chat_result",
    "write_chat_tool",
]

COMPATIBLE = Subset(
    # The whole request is rejected if one tool breaks these rules.
    not_at_root=frozenset({"allOf", "anyOf", "const", "enum", "not", "oneOf"}),
    properties_at_root=True,
    items=True,
    patterns=Patterns.WITHOUT_LOOK_AROUND,
)

STRICT = Subset(
    # Keywords that are allowed; published lists of rejected keywords were never complete.
    keywords=frozenset(
        {
            "additionalProperties",
            "anyOf",
            "const",
            "description",
            "enum",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "format",
            "items",
            "maximum",
            "maxItems",
            "minimum",
            "minItems",
            "multipleOf",
            "pattern",
            "properties",
            "required",
            "title",
            "type",
        }
    ),
    not_at_root=frozenset({"anyOf", "const", "enum"}),
    references=References.ALONE,
    boolean_schemas=False,
    typed=True,
    properties_at_root=True,
    items=True,
    formats=frozenset(
        {
            "date",
            "date-time",
            "duration",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "time",
            "uuid",
        }
    ),
    patterns=Patterns.REGULAR,
    distinct_first_properties=True,
    closed=True,
    all_required=True,
    limits=SchemaLimits(
        properties=5_000, depth=10, text=120_000, enum_values=1_000, enum_text=15_000
    ),
)

_SOURCES = (
    Source(
        "compatible: the root is an object without oneOf, anyOf, allOf, enum or not",
        "https://github.com/langchain-ai/langchainjs/issues/9804 (the error of the API)",
        "2026-11-22",
    ),
    Source(
        "compatible: const at the root is rejected",
        "litellm 1.109.1, flatten_top_level_schema_combinators",
        "2026-11-22",
    ),
    Source(
        "compatible: properties at the root",
        "https://github.com/openai/openai-agents-python/issues/449 (the error of the API)",
        "2026-11-22",
    ),
    Source(
        "compatible: items of arrays",
        'errors of the API, "array schema missing items", in reports on public tools',
        "2026-11-22",
    ),
    Source(
        "compatible: patterns that Python compiles",
        "litellm 1.109.1, drop_non_python_regex_patterns",
        "2026-11-22",
    ),
    Source(
        "compatible: no look-around in patterns",
        "https://github.com/tombii/better-ccflare/issues/357 (the error of the API, for requests "
        "that are not strict too)",
        "2026-07-30",
    ),
    Source(
        "strict: keywords, formats, references, closed, all_required and limits",
        "https://developers.openai.com/api/docs/guides/structured-outputs, "
        "as quotations from 2026-02 to 2026-10 agree; older ones say five levels",
        "2026-11-22",
    ),
    Source(
        "strict: references stand alone",
        "https://github.com/camel-ai/camel/issues/3001 (the error of the API)",
        "2026-11-22",
    ),
    Source(
        "strict: the objects of a union begin with different properties",
        "https://github.com/openai/openai-python/issues/2193 (the error of the API)",
        "2026-11-22",
    ),
    Source(
        "strict: no look-around in patterns",
        "pydantic-ai at 4fda38988, profiles/openai.py",
        "2026-08-22",
    ),
    Source("strict: const and enum at the root; how levels of depth are counted", "", ""),
    Source(
        "at most 128 tools",
        "https://github.com/openai/openai-openapi at f85dbe2, openapi.yaml",
        "2026-08-21",
    ),
)

CHAT_CALL = CallShape(
    ("function", "name"),
    ("id",),
    ("function", "arguments"),
    # Text, by the specification; servers that imitate the API have sent an object
    # (ggml-org/llama.cpp, issue 20198, 2026-03), which is unambiguous.
    Arguments.EITHER,
    "an element of `tool_calls`",
)


def write_chat_tool(tool: ToolDeclaration) -> dict[str, Any]:
    """Return *tool* as an element of ``tools`` of Chat Completions."""
    return {"type": "function", "function": tool.function()}


def write_chat_result(result: ToolResult) -> dict[str, Any]:
    """Return *result* as a message of Chat Completions, whose role is ``tool``.

    Its content is text only (openai 3.54.0, chat_completion_tool_message_param.py).
    """
    return {"role": "tool", "tool_call_id": result.call_id, "content": result.content("text")}


CHAT = Provider(
    key=ModelApi.OPENAI_CHAT,
    display_name="OpenAI's Chat Completions",
    tool_names=OPENAI_CHAT.grammar,
    property_names=None,
    compatible=COMPATIBLE,
    strict=STRICT,
    request_limits=RequestLimits(tools=128),
    sources=(
        Source(
            "tool_names; strict; write_tool and write_result",
            "openai 3.54.0, types/shared_params/function_definition.py and "
            "types/chat/chat_completion_tool_message_param.py",
            "2026-11-22",
        ),
        Source(
            "call",
            "https://github.com/openai/openai-openapi at f85dbe2, openapi.yaml, "
            "ChatCompletionMessageToolCall",
            "2026-08-21",
        ),
        # Reports of 2025 have a limit of 40 characters; a live request of 2026-07-14 with 51 was
        # accepted (https://github.com/vercel/ai/pull/17233).
        *_SOURCES,
    ),
    write_tool=write_chat_tool,
    call=CHAT_CALL,
    write_result=write_chat_result,
)


def _write_responses_tool(tool: ToolDeclaration) -> dict[str, Any]:
    written = {"type": "function", **tool.function()}
    if tool.output_schema is not None:
        written["output_schema"] = msgspec.Raw(tool.output_schema)
    return written


def _write_responses_result(result: ToolResult) -> dict[str, Any]:
    output = result.content("input_text")
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _write_responses_media(media: Media) -> dict[str, Any] | None:
    if media.mime_type in WEB_IMAGES:
        return {"type": "input_image", "image_url": media.data_url}
    if media.mime_type == PDF:
        return {"type": "input_file", "filename": "resource.pdf", "file_data": media.data_url}
    return None


RESPONSES = Provider(
    key=ModelApi.OPENAI_RESPONSES,
    display_name="OpenAI's Responses",
    tool_names=OPENAI_RESPONSES.grammar,
    property_names=None,
    compatible=COMPATIBLE,
    strict=STRICT,
    request_limits=RequestLimits(tools=128),
    sources=(
        Source(
            "tool_names; call, whose `id` is that of the item and whose `call_id` pairs it with "
            "its output; max_result_length; call_ids",
            "https://github.com/openai/openai-openapi at f85dbe2, openapi.yaml, "
            "FunctionToolParam, FunctionToolCall and FunctionCallOutputItemParam",
            "2026-08-21",
        ),
        Source(
            "strict and accepts_output_schema; write_tool and write_result",
            "openai 3.54.0, types/responses/function_tool_param.py and "
            "types/responses/response_input_item_param.py",
            "2026-11-22",
        ),
        *_SOURCES,
    ),
    write_tool=_write_responses_tool,
    call=CallShape(
        ("name",), ("call_id",), ("arguments",), Arguments.TEXT, "a `function_call` item"
    ),
    write_result=_write_responses_result,
    write_media=_write_responses_media,
    accepts_output_schema=True,
    call_ids=CallIdGrammar(64),
    max_result_length=10_485_760,
)
