"""Types of elicitation, sampling, and results that request input (2026-07-28).

Like the published schemas, the types of form fields accept additional keywords; rules check
the closed grammar of the specification.
"""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
from sidecheck_server.core.mcp.types.base import description, meta
from sidecheck_server.core.mcp.types.model import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    URI,
    Alias,
    Alternative,
    Choice,
    ListOf,
    MapOf,
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

__all__ = ["ELICITATION_TYPES", "SAMPLING_TYPES"]

_FIRST = "2025-06-18"
"""First version with elicitation."""

_MODES = "2025-11-25"
"""First version with modes, defaults and multiple selects."""

_HANDSHAKE, _DISCOVERY = LAST_HANDSHAKE, FIRST_STATELESS

_TITLED: tuple[Property, ...] = (optional("title", STRING), description())
_TEXT: tuple[Property, ...] = (required("type", constant("string")), *_TITLED)
_LIST: tuple[Property, ...] = (
    required("type", constant("array")),
    *_TITLED,
    optional("minItems", INTEGER),
    optional("maxItems", INTEGER),
    optional("default", ListOf(STRING)),
)
_TEXT_DEFAULT = optional("default", STRING, _MODES)

_FIELDS: tuple[Type, ...] = (
    ObjectType(
        "StringSchema",
        (
            *_TEXT,
            optional("minLength", INTEGER),
            optional("maxLength", INTEGER),
            optional("format", one_of_values(("email", "uri", "date", "date-time"))),
            _TEXT_DEFAULT,
        ),
        since=_FIRST,
    ),
    ObjectType(
        "NumberSchema",
        (
            required("type", one_of_values(("number", "integer"))),
            *_TITLED,
            optional("minimum", NUMBER),
            optional("maximum", NUMBER),
            optional("default", NUMBER, _MODES),
        ),
        since=_FIRST,
    ),
    ObjectType(
        "BooleanSchema",
        (required("type", constant("boolean")), *_TITLED, optional("default", BOOLEAN)),
        since=_FIRST,
    ),
    ObjectType(
        "UntitledSingleSelectEnumSchema",
        (*_TEXT, required("enum", ListOf(STRING)), _TEXT_DEFAULT),
        since=_MODES,
    ),
    # The published schemas do not name this type, `UntitledItems` and `TitledItems`.
    ObjectType("TitledValue", (required("const", STRING), required("title", STRING)), since=_MODES),
    ObjectType(
        "TitledSingleSelectEnumSchema",
        (*_TEXT, required("oneOf", ListOf(Ref("TitledValue"))), _TEXT_DEFAULT),
        since=_MODES,
    ),
    ObjectType(
        "UntitledItems",
        (required("type", constant("string")), required("enum", ListOf(STRING))),
        since=_MODES,
    ),
    ObjectType(
        "UntitledMultiSelectEnumSchema",
        (*_LIST, required("items", Ref("UntitledItems"))),
        since=_MODES,
    ),
    ObjectType("TitledItems", (required("anyOf", ListOf(Ref("TitledValue"))),), since=_MODES),
    ObjectType(
        "TitledMultiSelectEnumSchema",
        (*_LIST, required("items", Ref("TitledItems"))),
        since=_MODES,
    ),
    # The only enumeration of 2025-06-18, named EnumSchema there.
    ObjectType(
        "LegacyTitledEnumSchema",
        (
            *_TEXT,
            required("enum", ListOf(STRING)),
            optional("enumNames", ListOf(STRING)),
            _TEXT_DEFAULT,
        ),
        since=_FIRST,
    ),
)

_SINGLE = ("UntitledSingleSelectEnumSchema", "TitledSingleSelectEnumSchema")


def _choice(name: str, *names: str) -> Choice:
    return Choice(name, tuple(Alternative(alternative) for alternative in names), since=_MODES)


_UNIONS: tuple[Type, ...] = (
    _choice("SingleSelectEnumSchema", *_SINGLE),
    # Published as a choice of two alternatives, which differ only in their items.
    _choice("SelectItems", "UntitledItems", "TitledItems"),
    ObjectType(
        "MultiSelectEnumSchema", (*_LIST, required("items", Ref("SelectItems"))), since=_MODES
    ),
    _choice("EnumSchema", *_SINGLE, "MultiSelectEnumSchema", "LegacyTitledEnumSchema"),
    # The published schemas list the alternatives without this group. The group makes the type
    # of a field select the alternative that violations refer to.
    Choice(
        "StringFieldSchema",
        (
            Alternative("StringSchema"),
            *(Alternative(select, since=_MODES) for select in _SINGLE),
            Alternative("LegacyTitledEnumSchema"),
        ),
        discriminators=(required("type", constant("string")),),
        since=_FIRST,
    ),
    Choice(
        "PrimitiveSchemaDefinition",
        (
            Alternative("StringFieldSchema"),
            Alternative("NumberSchema"),
            Alternative("BooleanSchema"),
            Alternative("MultiSelectEnumSchema", since=_MODES),
        ),
        since=_FIRST,
    ),
)

_REQUEST: tuple[Type, ...] = (
    # The published schemas do not name this type.
    ObjectType(
        "RequestedSchema",
        (
            optional("$schema", STRING, _MODES),
            required("type", constant("object")),
            required("properties", MapOf(Ref("PrimitiveSchemaDefinition"))),
            optional("required", ListOf(STRING)),
        ),
        since=_FIRST,
    ),
    ObjectType(
        "ElicitRequestFormParams",
        (
            optional("mode", constant("form"), _MODES),
            required("message", STRING),
            required("requestedSchema", Ref("RequestedSchema")),
            optional("task", Ref("TaskMetadata"), _MODES, _HANDSHAKE),
            optional("_meta", Ref("RequestMetaObject"), until=_HANDSHAKE),
        ),
        since=_FIRST,
    ),
    ObjectType(
        "ElicitRequestURLParams",
        (
            required("mode", constant("url")),
            required("message", STRING),
            required("elicitationId", STRING, until=_HANDSHAKE),
            required("url", URI),
            optional("task", Ref("TaskMetadata"), until=_HANDSHAKE),
            optional("_meta", Ref("RequestMetaObject"), until=_HANDSHAKE),
        ),
        since=_MODES,
    ),
    Choice(
        "ElicitRequestParams",
        (
            Alternative("ElicitRequestURLParams", since=_MODES),
            Alternative("ElicitRequestFormParams"),
        ),
        since=_FIRST,
    ),
    ObjectType(
        "ElicitationCompleteNotificationParams",
        (required("elicitationId", STRING),),
        bases=("NotificationParams",),
        since=_MODES,
        until=_HANDSHAKE,
    ),
)

# The published schemas accept only integers, see `errata`.
_FORM_VALUE = {"type": ["string", "number", "boolean"]}
_FORM_VALUE_OR_LIST = {
    "type": ["string", "number", "boolean", "array"],
    "items": {"type": "string"},
}

_RESULT: tuple[Type, ...] = (
    ObjectType(
        "ElicitResult",
        (
            required("action", one_of_values(("accept", "decline", "cancel"))),
            optional("content", MapOf(Plain(_FORM_VALUE)), until="2025-06-18"),
            optional("content", MapOf(Plain(_FORM_VALUE_OR_LIST)), _MODES),
            optional("_meta", Ref("ResultMetaObject"), until=_HANDSHAKE),
        ),
        since=_FIRST,
    ),
)


def _request(name: str, method: str, params: Property) -> ObjectType:
    return ObjectType(name, (required("method", constant(method)), params), since=_DISCOVERY)


_INPUT_REQUIRED: tuple[Type, ...] = (
    _request(
        "CreateMessageRequest",
        "sampling/createMessage",
        required("params", Ref("CreateMessageRequestParams")),
    ),
    _request("ListRootsRequest", "roots/list", optional("params", Ref("ListRootsRequestParams"))),
    _request("ElicitRequest", "elicitation/create", required("params", Ref("ElicitRequestParams"))),
    Choice(
        "InputRequest",
        (
            Alternative("CreateMessageRequest"),
            Alternative("ListRootsRequest"),
            Alternative("ElicitRequest"),
        ),
        since=_DISCOVERY,
    ),
    Alias("InputRequests", MapOf(Ref("InputRequest")), since=_DISCOVERY),
    Choice(
        "InputResponse",
        (
            Alternative("CreateMessageResult"),
            Alternative("ListRootsResult"),
            Alternative("ElicitResult"),
        ),
        since=_DISCOVERY,
    ),
    Alias("InputResponses", MapOf(Ref("InputResponse")), since=_DISCOVERY),
    ObjectType(
        "InputRequiredResult",
        (optional("inputRequests", Ref("InputRequests")), optional("requestState", STRING)),
        bases=("Result",),
        since=_DISCOVERY,
    ),
    ObjectType(
        "InputResponseRequestParams",
        (optional("inputResponses", Ref("InputResponses")), optional("requestState", STRING)),
        bases=("RequestParams",),
        since=_DISCOVERY,
    ),
)

ELICITATION_TYPES: tuple[Type, ...] = (*_FIELDS, *_UNIONS, *_REQUEST, *_RESULT, *_INPUT_REQUIRED)
"""Elicitation and results that request input."""


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

_SAMPLING: tuple[Type, ...] = (
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

SAMPLING_TYPES: tuple[Type, ...] = (*_CONTENT, *_SAMPLING)
"""Sampling."""
