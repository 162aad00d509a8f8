"""Types of sampling: messages, requests and results."""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
from sidecheck_server.core.mcp.types.base import meta
from sidecheck_server.core.mcp.types.model import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    Alternative,
    Choice,
    ListOf,
    ObjectType,
    OneOf,
    Plain,
    Property,
    Ref,
    Type,
    constant,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES"]

_HANDSHAKE, _DISCOVERY = LAST_HANDSHAKE, FIRST_STATELESS
_TOOLS = "2025-11-25"

_SHARE = Plain({"type": "number", "minimum": 0, "maximum": 1})
_BLOCK = Ref("SamplingMessageContentBlock")
_MESSAGE: tuple[Property, ...] = (
    required("role", Ref("Role")),
    required("content", _BLOCK, until="2025-06-18"),
    required("content", OneOf((_BLOCK, ListOf(_BLOCK))), _TOOLS),
)

_CONTENT: tuple[Type, ...] = (
    ObjectType(
        "ToolUseContent",
        (
            required("type", constant("tool_use")),
            required("id", STRING),
            required("name", STRING),
            required("input", OBJECT),
            meta(),
        ),
        since=_TOOLS,
    ),
    ObjectType(
        "ToolResultContent",
        (
            required("type", constant("tool_result")),
            required("toolUseId", STRING),
            required("content", ListOf(Ref("ContentBlock"))),
            optional("structuredContent", OBJECT, until=_HANDSHAKE),
            optional("structuredContent", ANY, _DISCOVERY),
            optional("isError", BOOLEAN),
            meta(),
        ),
        since=_TOOLS,
    ),
    Choice(
        "SamplingMessageContentBlock",
        (
            Alternative("TextContent"),
            Alternative("ImageContent"),
            Alternative("AudioContent", since="2025-03-26"),
            Alternative("ToolUseContent", since=_TOOLS),
            Alternative("ToolResultContent", since=_TOOLS),
        ),
    ),
    ObjectType("SamplingMessage", (*_MESSAGE, meta(_TOOLS))),
)

_REQUEST: tuple[Type, ...] = (
    ObjectType("ModelHint", (optional("name", STRING),)),
    ObjectType(
        "ModelPreferences",
        (
            optional("hints", ListOf(Ref("ModelHint"))),
            optional("costPriority", _SHARE),
            optional("speedPriority", _SHARE),
            optional("intelligencePriority", _SHARE),
        ),
    ),
    ObjectType(
        "ToolChoice",
        (optional("mode", one_of_values(("auto", "required", "none"))),),
        since=_TOOLS,
    ),
    ObjectType(
        "CreateMessageRequestParams",
        (
            required("messages", ListOf(Ref("SamplingMessage"))),
            required("maxTokens", INTEGER),
            optional("modelPreferences", Ref("ModelPreferences")),
            optional("systemPrompt", STRING),
            optional("includeContext", one_of_values(("none", "thisServer", "allServers"))),
            optional("temperature", NUMBER),
            optional("stopSequences", ListOf(STRING)),
            optional("metadata", Ref("JSONObject")),
            optional("tools", ListOf(Ref("Tool")), _TOOLS),
            optional("toolChoice", Ref("ToolChoice"), _TOOLS),
            optional("task", Ref("TaskMetadata"), _TOOLS, _HANDSHAKE),
            optional("_meta", Ref("RequestMetaObject"), until=_HANDSHAKE),
        ),
    ),
    ObjectType(
        "CreateMessageResult",
        (
            *_MESSAGE,
            required("model", STRING),
            optional("stopReason", STRING),
            optional("_meta", Ref("ResultMetaObject"), until=_HANDSHAKE),
            optional("_meta", Ref("MetaObject"), _DISCOVERY),
        ),
    ),
)

TYPES: tuple[Type, ...] = (*_CONTENT, *_REQUEST)
"""Sampling."""
