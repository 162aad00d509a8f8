"""Gemini: functions with ``parameters`` and with ``parametersJsonSchema``."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from sidecheck_server.core.convert.providers.provider import (
    PDF,
    Arguments,
    CallShape,
    Media,
    Provider,
    RequestLimits,
    Source,
    ToolDeclaration,
    ToolResult,
)
from sidecheck_server.core.convert.providers.subset import Patterns, References, Subset
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.mcp.name_grammars import GEMINI_LONGEST_EVERYWHERE, VERTEX, NameGrammar

__all__ = ["GEMINI", "GEMINI_JSON"]

_FIRST = ("A-Za-z_", 'a letter or "_"')
_TOOL_NAMES = replace(VERTEX.grammar, longest=GEMINI_LONGEST_EVERYWHERE)
_PROPERTY_NAMES = NameGrammar(64, "A-Za-z0-9_", 'ASCII letters, digits and "_"', *_FIRST)

_OPENAPI = Subset(
    # The type has title, default and additionalProperties, but versions of the API reject them,
    # the last as "Unknown name".
    keywords=frozenset(
        {
            "anyOf",
            "description",
            "enum",
            "format",
            "items",
            "maximum",
            "maxItems",
            "maxLength",
            "maxProperties",
            "minimum",
            "minItems",
            "minLength",
            "minProperties",
            "pattern",
            "properties",
            "required",
            "type",
        }
    ),
    not_at_root=frozenset({"anyOf", "enum"}),
    references=References.NOWHERE,
    recursion=False,
    boolean_schemas=False,
    type_lists=False,
    nullable=True,
    upper_case_types=True,
    typed=True,
    items=True,
    empty_objects=False,
    enum_of_strings=True,
    any_of_alone=True,
    formats=frozenset({"date-time", "double", "float", "int32", "int64"}),
    patterns=Patterns.REGULAR,
)

_JSON_SCHEMA = Subset(
    # The API reads oneOf as anyOf, so conversion sends anyOf.
    keywords=frozenset(
        {
            "additionalProperties",
            "anyOf",
            "description",
            "enum",
            "format",
            "items",
            "maximum",
            "maxItems",
            "minimum",
            "minItems",
            "prefixItems",
            "properties",
            "required",
            "title",
            "type",
        }
    ),
    not_at_root=frozenset({"anyOf", "enum"}),
    references=References.ALONE,
    # The API allows cycles only through properties that are not required.
    recursion=False,
    boolean_schemas=False,
    properties_at_root=True,
)

_SHAPES = Source(
    "write_tool, call and write_result; a tool that takes no arguments has no schema; id and "
    "args of a call are optional",
    "google-genai 3.4.0, types.py, FunctionDeclaration, FunctionCall and FunctionResponse",
    "2026-11-22",
)
_MEDIA = Source(
    "media in results: Gemini 3 and later",
    "https://ai.google.dev/gemini-api/docs/function-calling#multimodal, as public code quotes it; "
    "google-genai 3.4.0, types.py, FunctionResponsePart",
    "2026-11-22",
)
_NAMES = Source(
    "tool_names: at most 128 characters by the documents, and 64 in outdated deployments",
    "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling; "
    "google-genai 3.4.0, types.py, FunctionDeclaration.name",
    "2026-11-22",
)
_TOOLS_PER_REQUEST = Source(
    "at most 128 tools",
    "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling",
    "2026-11-22",
)

# google-genai writes a part as `function_call` unless its caller requests the names of the API.
_CALL = CallShape(
    ("name",),
    ("id",),
    ("args",),
    Arguments.OBJECT,
    "a `functionCall` part",
    ("functionCall", "function_call"),
    arguments_optional=True,
)

_MEDIA_TYPES = frozenset({"image/jpeg", "image/png", "image/webp", PDF})


def _tool_writer(parameters_key: str) -> Callable[[ToolDeclaration], dict[str, Any]]:
    def write_tool(tool: ToolDeclaration) -> dict[str, Any]:
        function = tool.heading()
        if tool.parameters is not None:
            function[parameters_key] = msgspec.Raw(tool.parameters)
        return function

    return write_tool


def _combine_tools(tools: list[msgspec.Raw]) -> list[Any]:
    """Return a list with one tool that declares all functions."""
    return [{"functionDeclarations": tools}]


def _write_result(result: ToolResult) -> dict[str, Any]:
    # Text, not the structured content itself: as a protobuf Struct its integers are doubles.
    text = result.text() or "The output is attached."
    response: dict[str, Any] = {"id": result.call_id} if result.call_id else {}
    response["name"] = result.name
    response["response"] = {"error" if result.failed else "output": text}
    parts = result.media()
    if parts:
        response["parts"] = parts
    return {"functionResponse": response}


def _write_media(media: Media) -> dict[str, Any] | None:
    if media.mime_type not in _MEDIA_TYPES:
        return None
    return {"inlineData": {"mimeType": media.mime_type, "data": media.data}}


GEMINI = Provider(
    key=ModelApi.GEMINI,
    display_name="Gemini",
    tool_names=_TOOL_NAMES,
    property_names=_PROPERTY_NAMES,
    compatible=_OPENAPI,
    strict=None,
    request_limits=RequestLimits(tools=128),
    sources=(
        _NAMES,
        Source(
            "property_names; keywords, nullable, upper_case_types and enum_of_strings",
            "google-genai 3.4.0, types.py, FunctionDeclaration.parameters, Schema and Type",
            "2026-11-22",
        ),
        Source(
            "formats: enum and date-time of strings, int32 and int64 of integers",
            "google-adk, tools/_gemini_schema_util.py, which quotes the error of the API",
            "2026-11-22",
        ),
        Source(
            "empty_objects",
            'the error of the API, "properties: should be non-empty for OBJECT type", in '
            "public repositories",
            "2026-11-22",
        ),
        Source(
            "enum_of_strings: no string may be empty",
            "https://github.com/Smana/runlore/pull/40, which quotes the error of the API",
            "2026-11-22",
        ),
        Source(
            "any_of_alone",
            "https://github.com/googleapis/python-genai/issues/625, which quotes the error of "
            "the API",
            "2026-11-22",
        ),
        Source("items; patterns; enum and anyOf at the root", "", ""),
        _TOOLS_PER_REQUEST,
        _SHAPES,
        _MEDIA,
    ),
    write_tool=_tool_writer("parameters"),
    call=_CALL,
    write_result=_write_result,
    write_media=_write_media,
    combine_tools=_combine_tools,
    omits_empty_parameters=True,
    result_requires_call_id=False,
    result_requires_name=True,
    result_has_error_flag=True,
)

GEMINI_JSON = Provider(
    key=ModelApi.GEMINI_JSON,
    display_name="Gemini",
    tool_names=_TOOL_NAMES,
    property_names=None,
    compatible=_JSON_SCHEMA,
    strict=None,
    request_limits=RequestLimits(tools=128),
    sources=(
        _NAMES,
        Source(
            "keywords and references, as in the schemas of responses",
            "google-genai 3.4.0, types.py, GenerateContentConfig.response_json_schema",
            "2026-11-22",
        ),
        Source(
            "whether tools accept the same keywords as responses; property_names; anyOf and enum "
            "at the root; values of enum that are neither strings nor numbers",
            "",
            "",
        ),
        _TOOLS_PER_REQUEST,
        _SHAPES,
        _MEDIA,
    ),
    write_tool=_tool_writer("parametersJsonSchema"),
    call=_CALL,
    write_result=_write_result,
    write_media=_write_media,
    combine_tools=_combine_tools,
    omits_empty_parameters=True,
    result_requires_call_id=False,
    result_requires_name=True,
    result_has_error_flag=True,
)
