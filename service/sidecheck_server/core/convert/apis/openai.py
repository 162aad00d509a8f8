"""OpenAI: Chat Completions and Responses."""

from sidecheck_server.core.convert.apis.api import (
    Api,
    Patterns,
    References,
    RequestLimits,
    SchemaLimits,
    Source,
    Subset,
)
from sidecheck_server.core.convert.apis.grammars import LETTERS_TO_DASH_64, LETTERS_TO_DASH_128
from sidecheck_server.core.convert.words import ModelApi

__all__ = ["CHAT", "COMPATIBLE", "RESPONSES", "STRICT"]

COMPATIBLE = Subset(
    # One tool that breaks these rules has the whole request refused.
    not_at_root=frozenset({"allOf", "anyOf", "const", "enum", "not", "oneOf"}),
    properties_at_root=True,
    items=True,
)

STRICT = Subset(
    # What is allowed, not what is refused: lists of the latter were always behind.
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
    first_members_differ=True,
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
        "compatible: const at the root is refused",
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
        "strict: the objects of a union begin with different members",
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

CHAT = Api(
    key=ModelApi.OPENAI_CHAT,
    in_words="OpenAI's Chat Completions",
    names=LETTERS_TO_DASH_64,
    members=None,
    compatible=COMPATIBLE,
    strict=STRICT,
    request=RequestLimits(tools=128),
    sources=(
        Source(
            "names; strict; shapes of tools and of answers",
            "openai 3.54.0, types/shared_params/function_definition.py and "
            "types/chat/chat_completion_tool_message_param.py",
            "2026-11-22",
        ),
        *_SOURCES,
    ),
    arguments_as_text=True,
)

RESPONSES = Api(
    key=ModelApi.OPENAI_RESPONSES,
    in_words="OpenAI's Responses",
    names=LETTERS_TO_DASH_128,
    members=None,
    compatible=COMPATIBLE,
    strict=STRICT,
    request=RequestLimits(tools=128),
    sources=(
        Source(
            "names; the longest output and id of a call",
            "https://github.com/openai/openai-openapi at f85dbe2, openapi.yaml, "
            "FunctionToolParam and FunctionCallOutputItemParam",
            "2026-08-21",
        ),
        Source(
            "strict and output_schema; shapes of tools and of answers",
            "openai 3.54.0, types/responses/function_tool_param.py and "
            "types/responses/response_input_item_param.py",
            "2026-11-22",
        ),
        *_SOURCES,
    ),
    output_schema=True,
    arguments_as_text=True,
    call_id_length=64,
    answer_length=10_485_760,
)
