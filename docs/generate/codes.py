"""The codes of violations and changes that are no rules: one table for each part of the service.

A test compares the tables with the codes that occur in the code.
"""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["TABLES", "CodeTable"]

CodeTable = Mapping[str, str]

_KEYWORDS: CodeTable = MappingProxyType(
    {
        "TYPE": "The value has another type than `type` allows.",
        "ENUM": "The value is none of those in `enum`.",
        "CONST": "The value is not that of `const`.",
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
        "MULTIPLE_OF": "The number is not a multiple.",
        "MIN_LENGTH": "The string is too short.",
        "MAX_LENGTH": "The string is too long.",
        "PATTERN": "The string does not match the pattern.",
        "FORMAT": "The string is not of the format; only with `assert_formats`.",
        "ANY_OF": "The value is valid against none of the alternatives.",
        "ONE_OF": "The value is valid against none of the alternatives, or several.",
        "NOT": "The value is valid against a schema that is ruled out.",
        "FALSE_SCHEMA": "The schema is `false`: no value is allowed.",
    }
)

_PAYLOADS: CodeTable = MappingProxyType(
    {
        "UNKNOWN_PROPERTY": "The schema does not declare the property; only if "
        "`unknown_arguments` asks for it.",
        "UNKNOWN_TOOL": "Nothing was validated, since the tool is unknown: a warning, only with "
        "`ON_UNKNOWN_TOOL_SKIP`.",
        "TOOL_NAME_MISMATCH": "The params call another tool than the target.",
        "OUTPUT_READING": "Structured content of a tool whose output schema has to be wrapped or "
        "unwrapped for the protocol version was read in the form of the definition (severity "
        "info; the payload is valid).",
        "DETAILS_UNAVAILABLE": "The payload is invalid, but explaining why takes too many steps.",
        "ENGINE_DISAGREEMENT": "The two engines differ: a fault of the service. Please report "
        "the schema.",
    }
)

_DEFINITIONS: CodeTable = MappingProxyType(
    {
        "TOOLS_MISSING": "A `tools/list` result has no list of tools.",
        "TOOLS_NOT_A_LIST": "The tools are not a list.",
        "DEFINITION_CHANGED": "Another definition was registered under the name; an error or a "
        "warning, as `change_policy` says.",
        "BREAKING_CHANGE": "The definition breaks callers of the registered one; an error or a "
        "warning, as `compatibility` says.",
        "UNDECIDED_CHANGE": "Whether the definition breaks callers of the registered one is "
        "undecided; an error or a warning, as `compatibility` says.",
    }
)

_CALLS: CodeTable = MappingProxyType(
    {
        "CALL_NOT_AN_OBJECT": "The model's call is not an object as the API returns it.",
        "CALL_NAME_MISSING": "The model's call does not name a tool.",
        "CALL_ARGUMENTS_MISSING": "The model's call has no arguments.",
        "CALL_ARGUMENTS_NOT_AN_OBJECT": "The arguments are not an object, or not its JSON text.",
        "REQUEST_TOOLS": "The request has more tools than the API takes.",
        "REQUEST_STRICT_TOOLS": "The request has more strict tools than the API takes.",
        "REQUEST_STRICT_OPTIONAL": "The strict tools have more optional properties together than "
        "the API takes.",
        "REQUEST_STRICT_UNIONS": "The strict tools have more properties whose type is a union "
        "than the API takes.",
    }
)

_MAPPINGS: CodeTable = MappingProxyType(
    {
        "MAPPING_VERSION": "The mapping is of a later version.",
        "MAPPING_PROPERTY_MISSING": "A property of the mapping is missing.",
        "MAPPING_UNKNOWN_PROPERTY": "The mapping has a property that it cannot have.",
        "MAPPING_WRONG_TYPE": "A value of the mapping has the wrong type.",
        "MAPPING_WRONG_VALUE": "A value of the mapping is not allowed.",
        "MAPPING_REFERENCE_UNRESOLVED": "A reference of the mapping leads nowhere.",
        "MAPPING_REFERENCE_CYCLE": "References of the mapping lead back to themselves.",
    }
)

_TRANSCRIPTS: CodeTable = MappingProxyType(
    {"TRANSCRIPT_LINE": "The object around a message in a transcript is malformed."}
)

_PROXY: CodeTable = MappingProxyType(
    {
        "NOT_A_MESSAGE": "A line of the server is no JSON object or array; it is not forwarded.",
        "CONTENT_LENGTH_FRAMING": "The server frames messages as language servers do; the "
        "connection ends.",
        "METHOD_NOT_ALLOWED": "Under enforcement, a request through Envoy whose method is none of "
        "Streamable HTTP.",
        "PATH_NOT_ALLOWED": "Under enforcement, a request for another path than the endpoint that "
        "is not known to be of something else (`--allow-path`).",
        "MESSAGE_TOO_LONG": "A message is beyond `--max-message-bytes`, or an event beyond "
        "`payload_bytes` of a gateway's service; the connection or stream ends.",
        "TOOLS_NOT_LISTED": "The server did not list its tools, so a call could not be validated.",
        "TOOLS_NOT_PINNED": "Tools are to be pinned and are not: the list has no end or is too "
        "large, or no complete list has passed; calls are rejected.",
        "AMBIGUOUS_NAME": "A property is spelled as one of the protocol but for its case, and some "
        "readers take it for that.",
        "HEADER_MISMATCH": "A header of HTTP is missing, or differs from the part of the message "
        "that it repeats.",
        "CALLER_NOT_ALLOWED": "A page of another origin called, or by another name of the host.",
        "TOO_MANY_CONNECTIONS": "A connection to the proxy over HTTP was rejected, or one that "
        "waited for its client was closed for another: `--max-connections`, "
        "`--max-peer-connections`.",
        "REQUEST_TIMEOUT": "The head or body of a request did not arrive within `--head-seconds` "
        "or `--body-seconds`; it was answered with HTTP 408 where possible.",
        "RESPONSE_NOT_READ": "A client did not read what it was sent within `--write-seconds`; its "
        "connection was closed.",
        "TOO_MANY_BYTES": "A large message found no room in `--max-bytes-in-flight`: a request was "
        "rejected with HTTP 503, a response became an error, or a stream ended.",
        "UPSTREAM_UNAVAILABLE": "The server at the other end of HTTP does not respond, or broke "
        "off.",
        "REQUEST_NOT_ANSWERED": "The server sent an invalid request in a stream of events; it was "
        "dropped, and Envoy cannot give the server an error.",
        "NOT_VALIDATED": "Something over HTTP could not be read as a message, and passed or was "
        "rejected unread.",
        "PINS_NOT_WRITTEN": "The lock file of pinned tools could not be written.",
        "TOOL_DROPPED": "A call names a tool that was taken out of the list.",
        "TOOL_ADDED": "A tool that is listed or called is not among the pinned ones.",
        "TOOL_CHANGED": "A tool differs from the pinned one, or before that from how it was listed "
        "first.",
        "TOOL_RENAMED": "A tool is a pinned one under another name.",
        "TOOL_REMOVED": "A pinned tool is not listed.",
    }
)

_CHANGES: CodeTable = MappingProxyType(
    {
        "JSON_STRING_DECODED": "A string became the object or array whose JSON text it was.",
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
        "JSON_TEXT_DECODED": "A string became the value that conversion had encoded.",
        "ROOT_UNWRAPPED": "The arguments were taken out of the property that held them.",
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
