"""Elicitation: what servers ask of a person, and the answers.

The schemas of the fields are as open as they were published; rules tell what the
specification's closed grammar forbids.
"""

from sidecheck_server.core.mcp.types.base import described
from sidecheck_server.core.mcp.types.model import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    URI,
    Alternative,
    Choice,
    Field,
    ListOf,
    MapOf,
    ObjectType,
    Plain,
    Ref,
    Type,
    constant,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES"]

_FIRST = "2025-06-18"
_MODES = "2025-11-25"
_HANDSHAKE, _DISCOVERY = "2025-11-25", "2026-07-28"

_TITLED: tuple[Field, ...] = (optional("title", STRING), described())
_TEXT: tuple[Field, ...] = (required("type", constant("string")), *_TITLED)
_LIST: tuple[Field, ...] = (
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
    # The published schemas have no names for this one and `UntitledItems`, `TitledItems`.
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
    return Choice(name, tuple(Alternative(each) for each in names), since=_MODES)


_UNIONS: tuple[Type, ...] = (
    _choice("SingleSelectEnumSchema", *_SINGLE),
    # Published as a choice of its two alternatives, which differ in the items alone.
    _choice("SelectItems", "UntitledItems", "TitledItems"),
    ObjectType(
        "MultiSelectEnumSchema", (*_LIST, required("items", Ref("SelectItems"))), since=_MODES
    ),
    _choice("EnumSchema", *_SINGLE, "MultiSelectEnumSchema", "LegacyTitledEnumSchema"),
    # The published schemas list the fields without this group. With it, the type tells
    # which of them is meant, and so what is wrong with it.
    Choice(
        "StringFieldSchema",
        (
            Alternative("StringSchema"),
            *(Alternative(each, since=_MODES) for each in _SINGLE),
            Alternative("LegacyTitledEnumSchema"),
        ),
        marks=(required("type", constant("string")),),
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
    # The published schemas have no name for it.
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

# The published schemas allow integers only: see `errata`.
_ANSWER = {"type": ["string", "number", "boolean"]}
_ANSWERS = {"type": ["string", "number", "boolean", "array"], "items": {"type": "string"}}

_RESULT: tuple[Type, ...] = (
    ObjectType(
        "ElicitResult",
        (
            required("action", one_of_values(("accept", "decline", "cancel"))),
            optional("content", MapOf(Plain(_ANSWER)), until="2025-06-18"),
            optional("content", MapOf(Plain(_ANSWERS)), _MODES),
            optional("_meta", Ref("ResultMetaObject"), until=_HANDSHAKE),
        ),
        since=_FIRST,
    ),
)

TYPES: tuple[Type, ...] = (*_FIELDS, *_UNIONS, *_REQUEST, *_RESULT)
"""Elicitation."""
