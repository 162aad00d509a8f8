"""Base types: plain values, metadata, icons, params, results and errors."""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
from sidecheck_server.core.mcp.types.model import (
    ANY,
    INTEGER,
    STRING,
    URI,
    Alias,
    ListOf,
    ObjectType,
    Plain,
    Property,
    Ref,
    Type,
    constant,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES", "description", "meta"]

_HANDSHAKE, _DISCOVERY = LAST_HANDSHAKE, FIRST_STATELESS


def meta(since: str = "2025-06-18") -> Property:
    """Return the property ``_meta`` of a nested object, in versions from *since*."""
    return optional("_meta", Ref("MetaObject"), since)


def description() -> Property:
    """Return the property ``description``."""
    return optional("description", STRING)


_VALUES: tuple[Type, ...] = (
    # Any value. The published schema is stricter, see `errata`.
    Alias("JSONValue", ANY, since=_DISCOVERY),
    Alias("JSONObject", Plain({"type": "object"})),
    Alias("JSONArray", Plain({"type": "array"}), since=_DISCOVERY),
    Alias("Cursor", STRING),
    Alias("ProgressToken", Plain({"type": ["string", "integer"]})),
    Alias("RequestId", Plain({"type": ["string", "integer"]})),
    Alias("Role", one_of_values(("assistant", "user"))),
    # Extensions may define further types beside "complete" and "input_required".
    Alias("ResultType", STRING, since=_DISCOVERY),
)

_METADATA: tuple[Type, ...] = (
    ObjectType("MetaObject"),
    ObjectType(
        "RequestMetaObject",
        (
            optional("progressToken", Ref("ProgressToken")),
            required("io.modelcontextprotocol/protocolVersion", STRING, _DISCOVERY),
            required(
                "io.modelcontextprotocol/clientCapabilities",
                Ref("ClientCapabilities"),
                _DISCOVERY,
            ),
            optional("io.modelcontextprotocol/clientInfo", Ref("Implementation"), _DISCOVERY),
            optional("io.modelcontextprotocol/logLevel", Ref("LoggingLevel"), _DISCOVERY),
        ),
    ),
    ObjectType(
        "NotificationMetaObject",
        (optional("io.modelcontextprotocol/subscriptionId", Ref("RequestId"), _DISCOVERY),),
    ),
    ObjectType(
        "ResultMetaObject",
        (optional("io.modelcontextprotocol/serverInfo", Ref("Implementation"), _DISCOVERY),),
    ),
    ObjectType("BaseMetadata", (required("name", STRING), optional("title", STRING, "2025-06-18"))),
    ObjectType(
        "Icon",
        (
            required("src", URI),
            optional("mimeType", STRING),
            optional("sizes", ListOf(STRING)),
            optional("theme", one_of_values(("light", "dark"))),
        ),
        since="2025-11-25",
    ),
    ObjectType("Icons", (optional("icons", ListOf(Ref("Icon"))),), since="2025-11-25"),
    ObjectType(
        "Implementation",
        (
            required("version", STRING),
            optional("description", STRING, "2025-11-25"),
            optional("websiteUrl", URI, "2025-11-25"),
        ),
        bases=("BaseMetadata", "Icons"),
    ),
    ObjectType(
        "Annotations",
        (
            optional("audience", ListOf(Ref("Role"))),
            optional("priority", Plain({"type": "number", "minimum": 0, "maximum": 1})),
            optional("lastModified", STRING, "2025-06-18"),
        ),
    ),
)

_PARAMS: tuple[Type, ...] = (
    ObjectType(
        "RequestParams",
        (
            optional("_meta", Ref("RequestMetaObject"), until=_HANDSHAKE),
            required("_meta", Ref("RequestMetaObject"), _DISCOVERY),
        ),
    ),
    ObjectType("NotificationParams", (optional("_meta", Ref("NotificationMetaObject")),)),
    ObjectType(
        "PaginatedRequestParams", (optional("cursor", Ref("Cursor")),), bases=("RequestParams",)
    ),
)

_RESULTS: tuple[Type, ...] = (
    ObjectType(
        "Result",
        (
            optional("_meta", Ref("ResultMetaObject")),
            required("resultType", Ref("ResultType"), _DISCOVERY),
        ),
    ),
    Alias("EmptyResult", Ref("Result")),
    ObjectType("PaginatedResult", (optional("nextCursor", Ref("Cursor")),), bases=("Result",)),
    ObjectType(
        "CacheableResult",
        (
            required("ttlMs", Plain({"type": "integer", "minimum": 0})),
            required("cacheScope", one_of_values(("public", "private"))),
        ),
        bases=("Result",),
        since=_DISCOVERY,
    ),
)


def _error_with_code(name: str, code: int) -> ObjectType:
    return ObjectType(name, (required("code", constant(code)),), bases=("Error",), since=_DISCOVERY)


_ERRORS: tuple[Type, ...] = (
    ObjectType(
        "Error",
        (required("code", INTEGER), required("message", STRING), optional("data", ANY)),
    ),
    _error_with_code("ParseError", -32700),
    _error_with_code("InvalidRequestError", -32600),
    _error_with_code("MethodNotFoundError", -32601),
    _error_with_code("InvalidParamsError", -32602),
    _error_with_code("InternalError", -32603),
    # The published schemas name the error responses, not the types of their data.
    ObjectType(
        "URLElicitationRequiredErrorData",
        (required("elicitations", ListOf(Ref("ElicitRequestURLParams"))),),
        since="2025-11-25",
        until="2025-11-25",
    ),
    ObjectType(
        "MissingRequiredClientCapabilityErrorData",
        (required("requiredCapabilities", Ref("ClientCapabilities")),),
        since=_DISCOVERY,
    ),
    ObjectType(
        "UnsupportedProtocolVersionErrorData",
        (required("supported", ListOf(STRING)), required("requested", STRING)),
        since=_DISCOVERY,
    ),
)

TYPES: tuple[Type, ...] = (*_VALUES, *_METADATA, *_PARAMS, *_RESULTS, *_ERRORS)
"""Base types and errors."""
