"""Amazon Bedrock: Converse, with models of any family."""

from typing import Any

import msgspec

from sidecheck_server.core.convert.call_ids import CallIdGrammar
from sidecheck_server.core.convert.providers.anthropic import STRICT, STRICT_LIMITS
from sidecheck_server.core.convert.providers.provider import (
    LETTERS_TO_DOT_64,
    WEB_IMAGES,
    Arguments,
    CallShape,
    Media,
    Provider,
    Source,
    ToolDeclaration,
    ToolResult,
)
from sidecheck_server.core.convert.providers.subset import (
    ALL_KEYWORDS,
    Patterns,
    References,
    Subset,
)
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.mcp.name_grammars import BEDROCK

__all__ = ["CONVERSE"]


def _write_tool(tool: ToolDeclaration) -> dict[str, Any]:
    function = tool.function("inputSchema")
    if not tool.strict:
        # The default; botocore before the field refuses it as an unknown parameter.
        function.pop("strict", None)
    return {"toolSpec": {**function, "inputSchema": {"json": function["inputSchema"]}}}


def _combine_tools(tools: list[msgspec.Raw]) -> dict[str, Any]:
    """Return the value of ``toolConfig``, which may not be empty."""
    return {"tools": tools}


def _write_result(result: ToolResult) -> dict[str, Any]:
    content = [{"text": item} if isinstance(item, str) else item for item in result.items]
    block: dict[str, Any] = {"toolUseId": result.call_id, "content": content}
    # The default is success; only some model families accept the field at all (botocore
    # 1.44.5, ToolResultBlock.status).
    if result.failed:
        block["status"] = "error"
    return {"toolResult": block}


def _write_media(media: Media) -> dict[str, Any] | None:
    # Names of documents must differ within a request, but this function sees one result only.
    if media.mime_type not in WEB_IMAGES:
        return None
    source = {"bytes": media.data}
    return {"image": {"format": media.mime_type.removeprefix("image/"), "source": source}}


CONVERSE = Provider(
    key=ModelApi.BEDROCK,
    display_name="Amazon Bedrock's Converse",
    tool_names=BEDROCK.grammar,
    property_names=LETTERS_TO_DOT_64,
    compatible=Subset(
        # At the root, Amazon's Nova accepts only these three keywords, hence no definitions;
        # Claude rejects only oneOf, anyOf and allOf.
        not_at_root=ALL_KEYWORDS - {"properties", "required", "type"},
        references=References.NOWHERE,
        recursion=False,
        properties_at_root=True,
        items=True,
        patterns=Patterns.REGULAR,
    ),
    strict=STRICT,
    request_limits=STRICT_LIMITS,
    sources=(
        Source(
            "tool_names; the length of call_ids; strict; the root is an object; write_tool, call "
            "and write_result",
            "botocore 1.44.5, bedrock-runtime 2023-09-30, ToolSpecification, ToolUseBlock and "
            "ToolResultBlock",
            "2026-11-22",
        ),
        Source(
            "call_ids",
            "https://docs.aws.amazon.com/bedrock/latest/APIReference/"
            "API_runtime_ToolUseBlock.html, as "
            "https://github.com/run-llama/llama_index/pull/22775 quotes it",
            "2026-11-28",
        ),
        Source(
            "write_tool: versions of botocore without the field strict refuse it",
            "https://github.com/langchain-ai/langchain/issues/28660 (the error of botocore)",
            "2026-11-28",
        ),
        Source(
            "property_names",
            "the ValidationException of the API, \"Property keys should match pattern '"
            "^[a-zA-Z0-9_.-]{1,64}$'\", in public repositories",
            "2026-11-22",
        ),
        Source(
            "compatible: keywords at the root, with Nova",
            "https://docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html, and "
            "https://github.com/pydantic/pydantic-ai/issues/1623, which reports the error",
            "2026-11-22",
        ),
        Source(
            "compatible: oneOf, anyOf and allOf at the root, with Claude",
            "https://github.com/makenotion/notion-mcp-server/issues/341 (the error of "
            "Anthropic's API)",
            "2026-11-22",
        ),
        Source(
            "compatible: look-around in patterns is rejected with some model families",
            "litellm 1.109.1, the transformation of tools for Bedrock",
            "2026-11-22",
        ),
        Source(
            "strict: a subset of 2020-12 is accepted; otherwise the request is rejected",
            "https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html",
            "2026-11-22",
        ),
        Source(
            "strict: the subset and the limits of models of other families (Anthropic's are "
            "assumed); compatible: keywords at the root of models of other families; items",
            "",
            "",
        ),
    ),
    write_tool=_write_tool,
    call=CallShape(
        ("name",), ("toolUseId",), ("input",), Arguments.OBJECT, "a `toolUse` part", ("toolUse",)
    ),
    write_result=_write_result,
    write_media=_write_media,
    combine_tools=_combine_tools,
    result_has_error_flag=True,
    call_ids=CallIdGrammar(
        64, characters="A-Za-z0-9_.:-", description='ASCII letters, digits, "_", ".", ":" and "-"'
    ),
)
