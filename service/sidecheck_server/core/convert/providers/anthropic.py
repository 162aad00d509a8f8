"""Anthropic: Messages."""

from typing import Any

from sidecheck_server.core.convert.call_ids import CallIdGrammar
from sidecheck_server.core.convert.providers.provider import (
    LETTERS_TO_DOT_64,
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
from sidecheck_server.core.convert.providers.subset import Patterns, Subset
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.mcp.name_grammars import ANTHROPIC

__all__ = ["MESSAGES", "PROPERTY_NAMES", "STRICT", "STRICT_LIMITS"]

PROPERTY_NAMES = LETTERS_TO_DOT_64

STRICT = Subset(
    # The API accepts allOf without references; it is rare, so conversion does not use it.
    keywords=frozenset(
        {
            "additionalProperties",
            "anyOf",
            "const",
            "default",
            "description",
            "enum",
            "format",
            "items",
            "minItems",
            "pattern",
            "properties",
            "required",
            "title",
            "type",
        }
    ),
    not_at_root=frozenset({"anyOf", "const", "enum"}),
    recursion=False,
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
            "uri",
            "uuid",
        }
    ),
    min_items=frozenset({0, 1}),
    patterns=Patterns.REGULAR,
    closed=True,
)

STRICT_LIMITS = RequestLimits(strict_tools=20, strict_optional=24, strict_unions=16)


def _write_tool(tool: ToolDeclaration) -> dict[str, Any]:
    return tool.function("input_schema")


def _write_result(result: ToolResult) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id}
    block["content"] = result.content("text")
    if result.failed:
        block["is_error"] = True
    return block


def _write_media(media: Media) -> dict[str, Any] | None:
    if media.mime_type not in WEB_IMAGES | {PDF}:
        return None
    source = {"type": "base64", "media_type": media.mime_type, "data": media.data}
    return {"type": "document" if media.mime_type == PDF else "image", "source": source}


MESSAGES = Provider(
    key=ModelApi.ANTHROPIC,
    display_name="Anthropic's Messages",
    # The guide to tools says 64, the reference of the API 128.
    tool_names=ANTHROPIC.grammar,
    property_names=PROPERTY_NAMES,
    compatible=Subset(not_at_root=frozenset({"allOf", "anyOf", "oneOf"})),
    strict=STRICT,
    request_limits=STRICT_LIMITS,
    sources=(
        Source(
            "tool_names",
            "https://platform.claude.com/docs/en/api/messages/create",
            "2026-11-22",
        ),
        Source(
            "property_names",
            'the error of the API, "Property keys should match pattern '
            "'^[a-zA-Z0-9_.-]{1,64}$'\", in ten public repositories",
            "2026-11-22",
        ),
        Source(
            "call_ids",
            'https://github.com/maximhq/bifrost/issues/5097 (the error of the API, "String should '
            "match pattern '^[a-zA-Z0-9_-]+$'\")",
            "2026-11-28",
        ),
        Source(
            "compatible: the root is an object without oneOf, anyOf or allOf",
            "https://github.com/makenotion/notion-mcp-server/issues/341 (the error of the API)",
            "2026-11-22",
        ),
        Source(
            "compatible: all of 2020-12; strict; write_tool, call and write_result",
            "anthropic 2.12.0, types/tool_param.py, types/tool_use_block.py and "
            "types/tool_result_block_param.py",
            "2026-11-22",
        ),
        Source(
            "strict: the schema language, patterns and limits of a request",
            "https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "
            "as quoted in public repositories up to 2026-10",
            "2026-11-22",
        ),
        Source(
            "results: no blank text, and no failure without content",
            'errors of the API, "text content blocks must contain non-whitespace text" and '
            '"content cannot be empty if `is_error` is true", in public repositories',
            "2026-11-22",
        ),
        Source("strict: anyOf, const, enum at the root; whether types may be missing", "", ""),
    ),
    write_tool=_write_tool,
    call=CallShape(("name",), ("id",), ("input",), Arguments.OBJECT, "a `tool_use` block"),
    write_result=_write_result,
    write_media=_write_media,
    result_has_error_flag=True,
    call_ids=CallIdGrammar(
        characters="A-Za-z0-9_-", description='ASCII letters, digits, "_" and "-"'
    ),
)
