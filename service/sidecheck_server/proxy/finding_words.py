"""Words for codes: what a finding says if its own explanation cannot be shown."""

from collections.abc import Mapping

__all__ = ["describe_code"]

_WORDS: Mapping[str, str] = {
    # Keywords of JSON Schema
    "ADDITIONAL_ITEMS": "an array has too many items",
    "ADDITIONAL_PROPERTIES": "a property is not allowed",
    "ANY_OF": "a value matches none of the alternatives",
    "CONST": "a value differs from the one that is allowed",
    "CONTAINS": "an array lacks an item that the schema demands",
    "DEPENDENCIES": "a property lacks another one that it requires",
    "DEPENDENT_REQUIRED": "a property lacks another one that it requires",
    "ENUM": "a value is none of those that are allowed",
    "EXCLUSIVE_MAXIMUM": "a number is too large",
    "EXCLUSIVE_MINIMUM": "a number is too small",
    "FALSE_SCHEMA": "a value is not allowed",
    "FORMAT": "a string does not have its format",
    "ITEMS": "an array has too many items",
    "MAXIMUM": "a number is too large",
    "MAX_CONTAINS": "an array has too many matching items",
    "MAX_ITEMS": "an array has too many items",
    "MAX_LENGTH": "a string is too long",
    "MAX_PROPERTIES": "an object has too many properties",
    "MINIMUM": "a number is too small",
    "MIN_CONTAINS": "an array has too few matching items",
    "MIN_ITEMS": "an array has too few items",
    "MIN_LENGTH": "a string is too short",
    "MIN_PROPERTIES": "an object has too few properties",
    "MULTIPLE_OF": "a number is not a multiple of the one that the schema names",
    "NOT": "a value matches a schema that excludes it",
    "ONE_OF": "a value does not match exactly one of the alternatives",
    "PATTERN": "a string does not match its pattern",
    "PROPERTY_NAMES": "the name of a property is not allowed",
    "REQUIRED": "a required property is missing",
    "TYPE": "a value has the wrong type",
    "UNEVALUATED_ITEMS": "an array has too many items",
    "UNEVALUATED_PROPERTIES": "a property is not allowed",
    "UNIQUE_ITEMS": "an array has equal items",
    # Texts that cannot be read, or that parsers read differently
    "AMBIGUOUS_NAME": "names differ only in case, so that some parsers take them for the same",
    "DUPLICATE_KEY": "an object has the same name twice",
    "LIMIT_EXCEEDED": "a limit on size, depth or steps is exceeded",
    "PAYLOAD_NOT_JSON": "the text is not JSON",
    # Errors, for which there is no verdict
    "INTERNAL": "Sidecheck failed",
    "UNKNOWN_PROTOCOL_VERSION": "the protocol version is unknown",
    "WORKER_CRASHED": "a worker process of Sidecheck failed",
    # Framing and connections
    "CALLER_NOT_ALLOWED": "the caller is not allowed",
    "CONTENT_LENGTH_FRAMING": "the server frames its messages by Content-Length",
    "MESSAGE_TOO_LONG": "a message is larger than --max-message-bytes",
    "NOT_A_MESSAGE": "the text is not a message",
    "NOT_VALIDATED": "the message could not be validated",
    "PATH_NOT_ALLOWED": "the path is not allowed (--allow-path)",
    "REQUEST_NOT_ANSWERED": "the server did not respond to a request in its exchange",
    "REQUEST_TIMEOUT": "a request did not arrive in time",
    "RESPONSE_NOT_READ": "the client does not read a response",
    "RESPONSE_TIMEOUT": "the server did not respond in time (--timeout)",
    "RESPONSE_WITHOUT_REQUEST": "a response belongs to no open request",
    "TOO_MANY_BYTES": "too many bytes are in flight",
    "TOO_MANY_CONNECTIONS": "too many connections are open",
    "UPSTREAM_UNAVAILABLE": "the server does not respond",
    # Tools
    "PINS_NOT_WRITTEN": "the lock file could not be written",
    "TOOLS_NOT_LISTED": "the server has not listed its tools",
    "TOOLS_NOT_PINNED": "the tools of the server are not pinned",
    "TOOL_ADDED": "a tool is not in the lock file",
    "TOOL_CHANGED": "a tool differs from its pinned definition",
    "TOOL_DROPPED": "a tool was taken out of the list",
    "TOOL_REMOVED": "a pinned tool is missing",
    "TOOL_RENAMED": "a pinned tool has another name",
    "UNKNOWN_TOOL": "the server does not list the tool",
    # Repairs
    "BOOLEAN_TO_STRING": "a boolean was converted to a string",
    "DEFAULT_APPLIED": "the default of an absent property was added",
    "DEFAULT_SKIPPED": "the default of an absent property was not added",
    "EMPTY_OPTIONAL_REMOVED": "an empty optional argument was removed",
    "JSON_STRING_DECODED": "a string with the text of an array or object was decoded",
    "NUMBER_TO_STRING": "a number was converted to a string",
    "STRING_TO_BOOLEAN": "a string was converted to a boolean",
    "STRING_TO_INTEGER": "a string was converted to an integer",
    "STRING_TO_NUMBER": "a string was converted to a number",
    "UNKNOWN_PROPERTY_REMOVED": "an unknown argument was removed",
}
"""Words by code, for codes that are not rules of the protocol, or that several rules share."""


def describe_code(code: str) -> str:
    """Return what a finding with *code* says, without values of the message."""
    words = _WORDS.get(code)
    if words is not None:
        return words
    # Imported for the first finding, because the rules take long to import.
    from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE  # noqa: PLC0415

    rule = CATALOGUE.get(code)
    if rule is not None:
        return f"violates: {rule.requirement.removesuffix('.')}"
    return code.replace("_", " ").lower()
