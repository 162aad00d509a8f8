"""Messages and methods.

Envelopes are open: JSON-RPC and the published schemas of every version allow further
properties.
"""

from sidecheck_server.core.mcp.rules.rule import Clause, Rule, type_clause
from sidecheck_server.core.types import Severity

__all__ = [
    "BATCH_EMPTY",
    "BATCH_INITIALIZE",
    "BATCH_MIXED",
    "BATCH_UNSUPPORTED",
    "CLIENT_RESPONSE",
    "ENVELOPE_RULES",
    "ID_MISSING",
    "ID_NULL",
    "ID_TYPE",
    "KIND_UNCLEAR",
    "METHOD_TYPE",
    "METHOD_WITH_ANSWER",
    "NOTIFICATION_ANSWERED",
    "NOTIFICATION_WITH_ID",
    "NOT_IN_VERSION",
    "NOT_OBJECT",
    "PARAMS_MISSING",
    "PARAMS_TYPE",
    "REQUEST_WITHOUT_ID",
    "RESULT_TYPE",
    "RESULT_WITH_ERROR",
    "RULES",
    "UNKNOWN",
    "VERSION",
    "WRONG_SENDER",
]

_FIRST = "2024-11-05"
_BATCHES = "2025-03-26"
_STATELESS = "2026-07-28"


def _clause(anchor: str) -> Clause:
    return Clause("basic", anchor, before=((_FIRST, "basic/messages", anchor),))


_MESSAGES = Clause("basic", "messages", before=((_FIRST, "basic/messages", ""),))
_REQUESTS = _clause("requests")
_RESPONSES = _clause("responses")
_NOTIFICATIONS = _clause("notifications")
_SCHEMA = type_clause()


def _must(
    code: str, clause: Clause, requirement: str, since: str = _FIRST, until: str = "2026-07-28"
) -> Rule:
    subjects = ("JSONRPCMessage",)
    return Rule(code, Severity.ERROR, clause, requirement, subjects, since=since, until=until)


NOT_OBJECT = _must("MESSAGE_NOT_OBJECT", _MESSAGES, "A message MUST be an object.")
VERSION = _must("JSONRPC_VERSION", _MESSAGES, 'The property "jsonrpc" of a message MUST be "2.0".')
KIND_UNCLEAR = _must(
    "MESSAGE_KIND", _MESSAGES, "A message MUST have a method, a result or an error."
)
METHOD_WITH_ANSWER = _must(
    "METHOD_WITH_ANSWER",
    _MESSAGES,
    "A message with a method MUST NOT have a result or an error.",
)
RESULT_WITH_ERROR = _must(
    "RESULT_WITH_ERROR",
    _RESPONSES,
    "A response MUST have either a result or an error, and not both.",
)
ID_NULL = _must(
    "ID_NULL",
    _REQUESTS,
    "The id of a message MUST NOT be null. (Until 2025-06-18 that of an error response is"
    " null, as JSON-RPC requires, if the id of the request could not be read.)",
)
ID_TYPE = _must("ID_TYPE", _REQUESTS, "The id of a message MUST be a string or an integer.")
ID_MISSING = _must(
    "ID_MISSING",
    _RESPONSES,
    "A response MUST have the id of its request. (Since 2025-11-25 an error response has none"
    " if the id of the request could not be read.)",
)
REQUEST_WITHOUT_ID = _must("REQUEST_WITHOUT_ID", _REQUESTS, "A request MUST have an id.")
NOTIFICATION_WITH_ID = _must(
    "NOTIFICATION_WITH_ID", _NOTIFICATIONS, "A notification MUST NOT have an id."
)
NOTIFICATION_ANSWERED = _must(
    "NOTIFICATION_ANSWERED",
    _NOTIFICATIONS,
    "The receiver of a notification MUST NOT send a response.",
)
METHOD_TYPE = _must("METHOD_TYPE", _REQUESTS, "The method of a message MUST be a string.")
PARAMS_TYPE = _must("PARAMS_TYPE", _REQUESTS, "The params of a message MUST be an object.")
RESULT_TYPE = _must("RESULT_NOT_OBJECT", _RESPONSES, "The result of a response MUST be an object.")

BATCH_UNSUPPORTED = _must(
    "BATCH_UNSUPPORTED",
    _MESSAGES,
    "Messages MUST be sent one by one; only 2025-03-26 has batches.",
)
BATCH_EMPTY = _must(
    "BATCH_EMPTY",
    Clause("basic", "batching"),
    "A batch MUST NOT be empty.",
    _BATCHES,
    _BATCHES,
)
BATCH_MIXED = _must(
    "BATCH_MIXED",
    Clause("basic", "batching"),
    "A batch MUST consist of requests and notifications, or of responses.",
    _BATCHES,
    _BATCHES,
)
BATCH_INITIALIZE = _must(
    "BATCH_INITIALIZE",
    Clause("basic/lifecycle", "initialization"),
    "An initialize request MUST NOT be part of a batch.",
    _BATCHES,
    _BATCHES,
)

UNKNOWN = _must(
    "METHOD_UNKNOWN",
    _MESSAGES,
    "A method MUST be one of the protocol's. (Others are not checked if a peer declares"
    " extensions or experimental capabilities.)",
)
NOT_IN_VERSION = _must(
    "METHOD_NOT_IN_VERSION", _SCHEMA, "A method MUST be one of the protocol version."
)
WRONG_SENDER = _must(
    "METHOD_WRONG_SENDER",
    _SCHEMA,
    "A method MUST be one that its sender, client or server, may send.",
)
PARAMS_MISSING = _must(
    "PARAMS_MISSING", _SCHEMA, "A message MUST have params if its method requires them."
)
CLIENT_RESPONSE = _must(
    "CLIENT_RESPONSE",
    # Streamable HTTP has the same requirement, and basic/patterns states it without MUST.
    Clause("basic/transports/stdio", "sending-messages"),
    "A client MUST NOT send responses; servers request input in results.",
    since=_STATELESS,
)

ENVELOPE_RULES: tuple[Rule, ...] = (
    NOT_OBJECT,
    VERSION,
    KIND_UNCLEAR,
    METHOD_WITH_ANSWER,
    RESULT_WITH_ERROR,
    ID_NULL,
    ID_TYPE,
    ID_MISSING,
    REQUEST_WITHOUT_ID,
    NOTIFICATION_WITH_ID,
    NOTIFICATION_ANSWERED,
    METHOD_TYPE,
    PARAMS_TYPE,
    RESULT_TYPE,
    BATCH_UNSUPPORTED,
    BATCH_EMPTY,
    BATCH_MIXED,
    BATCH_INITIALIZE,
)
"""Rules on envelopes and batches."""

RULES: tuple[Rule, ...] = (
    *ENVELOPE_RULES,
    UNKNOWN,
    NOT_IN_VERSION,
    WRONG_SENDER,
    PARAMS_MISSING,
    CLIENT_RESPONSE,
)
"""Rules on messages and their methods."""
