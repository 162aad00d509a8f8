"""Codes of violations and changes other than rules, by part of the service.

A test compares the tables with the codes in the source.
"""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["TABLES", "CodeTable"]

CodeTable = Mapping[str, str]

_KEYWORDS: CodeTable = MappingProxyType(
    {
        "TYPE": "The value has a type that `type` does not allow.",
        "ENUM": "The value is not in `enum`.",
        "CONST": "The value differs from `const`.",
        "REQUIRED": "A property that `required` names is missing; reported at the object.",
        "DEPENDENT_REQUIRED": "A property is missing that another one requires.",
        "DEPENDENCIES": "A property is missing that another one requires (before 2019-09).",
        "ADDITIONAL_PROPERTIES": "The object has a property that the schema does not allow.",
        "UNEVALUATED_PROPERTIES": "The object has a property that no subschema allows.",
        "PROPERTY_NAMES": "The name of a property is invalid.",
        "MIN_PROPERTIES": "The object has too few properties.",
        "MAX_PROPERTIES": "The object has too many properties.",
        "ITEMS": "The array has items that the schema does not allow.",
        "ADDITIONAL_ITEMS": "The array has items beyond those that the schema allows.",
        "UNEVALUATED_ITEMS": "The array has an item that no subschema allows.",
        "CONTAINS": "No item of the array is valid against `contains`.",
        "MIN_CONTAINS": "Too few items are valid against `contains`.",
        "MAX_CONTAINS": "Too many items are valid against `contains`.",
        "MIN_ITEMS": "The array has too few items.",
        "MAX_ITEMS": "The array has too many items.",
        "UNIQUE_ITEMS": "Two items of the array are equal.",
        "MINIMUM": "The number is too small.",
        "MAXIMUM": "The number is too large.",
        "EXCLUSIVE_MINIMUM": "The number is too small, or equal to the bound.",
        "EXCLUSIVE_MAXIMUM": "The number is too large, or equal to the bound.",
        "MULTIPLE_OF": "The number is not a multiple of `multipleOf`.",
        "MIN_LENGTH": "The string is too short.",
        "MAX_LENGTH": "The string is too long.",
        "PATTERN": "The string does not match the pattern.",
        "FORMAT": "The string does not have the format; only with `assert_formats`.",
        "ANY_OF": "The value is valid against none of the alternatives.",
        "ONE_OF": "The value is valid against none of the alternatives, or several.",
        "NOT": "The value is valid against the schema in `not`.",
        "FALSE_SCHEMA": "The schema is `false`: no value is allowed.",
    }
)

_PAYLOADS: CodeTable = MappingProxyType(
    {
        "UNKNOWN_PROPERTY": "The schema does not declare the property; only if "
        "`unknown_arguments` rejects or reports it.",
        "UNKNOWN_TOOL": "The payload was not validated, since the tool is unknown: a warning, "
        "only with `ON_UNKNOWN_TOOL_SKIP`.",
        "TOOL_NAME_MISMATCH": "The params name a tool other than the target.",
        "OUTPUT_READING": "Structured content is valid in the form of the registered definition, "
        "and not in the form for the protocol version, in which the output schema is wrapped or "
        "unwrapped (severity info; the payload is valid).",
        "DETAILS_UNAVAILABLE": "The payload is invalid, but finding the violations takes too many "
        "steps.",
        "ENGINE_DISAGREEMENT": "The two engines disagree: a fault of the service. Please report "
        "the schema.",
    }
)

_DEFINITIONS: CodeTable = MappingProxyType(
    {
        "TOOLS_MISSING": "A `tools/list` result has no list of tools.",
        "TOOLS_NOT_A_LIST": "The tools are not a list.",
        "DEFINITION_CHANGED": "A different definition was registered under the name; an error or "
        "a warning, by `change_policy`.",
        "BREAKING_CHANGE": "The definition breaks callers of the registered one; an error or a "
        "warning, by `compatibility`.",
        "UNDECIDED_CHANGE": "Whether the definition breaks callers of the registered one is "
        "undecided; an error or a warning, by `compatibility`.",
    }
)

_CALLS: CodeTable = MappingProxyType(
    {
        "CALL_NOT_AN_OBJECT": "The model's call is not an object of the form that the API returns.",
        "CALL_NAME_MISSING": "The model's call does not name a tool.",
        "CALL_ARGUMENTS_MISSING": "The model's call has no arguments.",
        "CALL_ARGUMENTS_NOT_AN_OBJECT": "The arguments are not an object, or not its JSON text.",
        "REQUEST_TOOLS": "The request has more tools than the API accepts.",
        "REQUEST_STRICT_TOOLS": "The request has more strict tools than the API accepts.",
        "REQUEST_STRICT_OPTIONAL": "The strict tools have more optional properties in total than "
        "the API accepts.",
        "REQUEST_STRICT_UNIONS": "The strict tools have more properties of a union type than the "
        "API accepts.",
    }
)

_MAPPINGS: CodeTable = MappingProxyType(
    {
        "MAPPING_VERSION": "The mapping has a later version than the service supports.",
        "MAPPING_PROPERTY_MISSING": "A property of the mapping is missing.",
        "MAPPING_UNKNOWN_PROPERTY": "The mapping has an unknown property.",
        "MAPPING_WRONG_TYPE": "A value of the mapping has the wrong type.",
        "MAPPING_WRONG_VALUE": "A value of the mapping is not allowed.",
        "MAPPING_REFERENCE_UNRESOLVED": "A reference of the mapping does not resolve.",
        "MAPPING_REFERENCE_CYCLE": "References of the mapping form a cycle.",
    }
)

_TRANSCRIPTS: CodeTable = MappingProxyType(
    {
        "TRANSCRIPT_LINE": "The object around a message in a transcript is malformed.",
        "MESSAGE_INCOMPLETE": "A log has only a part of a message, which is not checked.",
    }
)

_PROXY: CodeTable = MappingProxyType(
    {
        "NOT_A_MESSAGE": "A line of the server is not a JSON-RPC message; it is not forwarded, "
        "unless a message may be inside. The first such line of each kind is reported, and the "
        "number of the others at the end.",
        "MESSAGE_OVER_LINES": "A message over stdio has several lines; reported once.",
        "BYTE_ORDER_MARK": "A byte order mark is before a message; under enforcement it is "
        "removed. Over stdio it is reported once.",
        "ERROR_WITHOUT_ID": "Under enforcement, an error of the server without an id was passed on "
        "as the response to the only open request.",
        "RESPONSE_TIMEOUT": "The server did not respond within `--timeout`; the client gets an "
        "error.",
        "CONTENT_LENGTH_FRAMING": "The server frames messages by `Content-Length`, like language "
        "servers. Its messages pass without validation; under enforcement, the connection ends.",
        "METHOD_NOT_ALLOWED": "Under enforcement, Envoy sent a request with an HTTP method that "
        "Streamable HTTP does not use.",
        "PATH_NOT_ALLOWED": "Under enforcement, a request for a path other than the endpoint that "
        "is not allowed (`--allow-path`).",
        "MESSAGE_TOO_LONG": "A message is beyond `--max-message-bytes`: over stdio it passes "
        "without validation, or under enforcement an error replaces it. Or an event is beyond "
        "`payload_bytes` of a gateway's service; the stream ends.",
        "TOOLS_NOT_LISTED": "The server did not list its tools, so a call could not be validated.",
        "TOOLS_NOT_PINNED": "Pinning is on, but no tools are pinned: the list has no end or is too "
        "large, or no complete list has passed; calls are rejected.",
        "AMBIGUOUS_NAME": "The name of a property differs from one of the protocol only in case, "
        "and some parsers treat the two alike.",
        "HEADER_MISMATCH": "An HTTP header is missing, or differs from the part of the message "
        "that it repeats.",
        "CALLER_NOT_ALLOWED": "A web page of another origin called, or the request names another "
        "host.",
        "TOO_MANY_CONNECTIONS": "A connection to the proxy over HTTP was rejected, or one that "
        "waited for its client was closed for another: `--max-connections`, "
        "`--max-peer-connections`.",
        "REQUEST_TIMEOUT": "The head or body of a request did not arrive within `--head-seconds` "
        "or `--body-seconds`; the response was HTTP 408 where possible.",
        "RESPONSE_NOT_READ": "A client did not read its data within `--write-seconds`; the "
        "connection was closed.",
        "TOO_MANY_BYTES": "A large message exceeds `--max-bytes-in-flight`: a request was rejected "
        "with HTTP 503, a response became an error, or a stream ended.",
        "UPSTREAM_UNAVAILABLE": "The upstream server does not respond or refuses a request, or the "
        "connection to it broke off.",
        "SESSION_RENEWED": "The upstream server ended a session; the proxy opened another one in "
        "its place (`--reconnect`).",
        "SERVER_RESTARTED": "The server process ended; the proxy started it again for the next "
        "message (`--restart`).",
        "REQUEST_NOT_ANSWERED": "The server sent an invalid request in a stream of events; it was "
        "dropped, and Envoy cannot send an error to the server.",
        "NOT_VALIDATED": "Data over HTTP could not be read as a message; it was forwarded or "
        "rejected without validation. Or messages over stdio passed without validation, because "
        "too many waited for it, it failed, or the connection ended.",
        "PINS_NOT_WRITTEN": "The lock file of pinned tools could not be written.",
        "TOOL_DROPPED": "A call names a tool that was removed from the list.",
        "TOOL_ADDED": "A tool that is listed or called is not pinned.",
        "TOOL_CHANGED": "A tool differs from the pinned one, or, before pinning, from its first "
        "listed definition.",
        "TOOL_RENAMED": "A tool has the definition of a pinned one, but another name.",
        "TOOL_REMOVED": "A pinned tool is not listed.",
    }
)

_CHANGES: CodeTable = MappingProxyType(
    {
        "JSON_STRING_DECODED": "A string was decoded into the object or array of its JSON text.",
        "STRING_TO_INTEGER": "A string became an integer.",
        "STRING_TO_NUMBER": "A string became a number.",
        "STRING_TO_BOOLEAN": "A string became a boolean.",
        "NUMBER_TO_STRING": "A number became a string.",
        "BOOLEAN_TO_STRING": "A boolean became a string.",
        "EMPTY_OPTIONAL_REMOVED": (
            "A property that is not required was removed, because its schema rejects its value: "
            'null, `""` or `"null"`.'
        ),
        "UNKNOWN_PROPERTY_REMOVED": "A property was removed that the schema does not declare.",
        "DEFAULT_APPLIED": "An absent property got its default.",
        "DEFAULT_SKIPPED": "A default was not applied, because its own schema rejects it.",
        "SYNTHETIC_NULL_REMOVED": "A null that stood for an absent property was removed.",
        "ENTRIES_JOINED": "A list of entries became a map again.",
        "JSON_TEXT_DECODED": "A string was decoded into the value that conversion had encoded.",
        "ROOT_UNWRAPPED": "The arguments were unwrapped from a property.",
    }
)

TABLES: Mapping[str, CodeTable] = MappingProxyType(
    {
        "Keywords of JSON Schema": _KEYWORDS,
        "Payloads and calls": _PAYLOADS,
        "Definitions and registration": _DEFINITIONS,
        "Calls of models, and requests to provider APIs": _CALLS,
        "Mappings": _MAPPINGS,
        "Transcripts": _TRANSCRIPTS,
        "Proxy and gateways": _PROXY,
        "Changes": _CHANGES,
    }
)
"""The tables by the title of their section."""
