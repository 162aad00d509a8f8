"""Rules on messages: JSON texts, envelopes, methods, and some notifications.

Each keyword of the published schemas has one rule; validating a value against the schema of
its type finds the faults. Decoding finds the faults of JSON texts.

Envelopes are open: JSON-RPC and the published schemas of all versions allow additional
properties.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet, type_clause
from sidecheck_server.core.types import Severity

__all__ = [
    "BATCH_EMPTY",
    "BATCH_INITIALIZE",
    "BATCH_MIXED",
    "BATCH_UNSUPPORTED",
    "CLIENT_RESPONSE",
    "ENVELOPE_RULES",
    "ERROR_ID_MISSING",
    "ERROR_ID_NULL",
    "ID_MISSING",
    "ID_NULL",
    "ID_TYPE",
    "KEYWORD_RULES",
    "KIND_UNCLEAR",
    "METHOD_TYPE",
    "METHOD_UNKNOWN",
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
    "SERVER_REQUEST",
    "VERSION",
    "WRONG_SENDER",
]

_SCHEMA = type_clause()
_MESSAGES = Clause("basic", "messages", before=(("2024-11-05", "basic/messages", ""),))

KEYWORD_RULES = RuleSet(Group.VALUES, on="*")
"""Rules of the published schemas."""

for _code, _requirement in (
    ("TYPE", "A value MUST have the JSON type that the schema of its type demands."),
    ("REQUIRED", "An object MUST have the required properties of its type."),
    ("CONST", "A property with one allowed value MUST have that value."),
    ("ENUM", "A property with a list of allowed values MUST have one of them."),
    ("MINIMUM", "A number MUST NOT be less than its minimum."),
    ("MAXIMUM", "A number MUST NOT be greater than its maximum."),
    ("MAX_ITEMS", "An array MUST NOT have more items than its maximum."),
    ("ADDITIONAL_PROPERTIES", "A closed object MUST NOT have other properties."),
    ("ANY_OF", "A value MUST be of one of the types that are allowed at its place."),
):
    KEYWORD_RULES.declare(
        _code,
        Severity.ERROR,
        _SCHEMA,
        _requirement,
        since="2026-07-28" if _code == "MAX_ITEMS" else "",
    )

# The source is JSON-RPC, which requires JSON.
_TEXT_RULES = RuleSet(Group.VALUES, on="*")
_TEXT_RULES.declare("PAYLOAD_NOT_JSON", Severity.ERROR, _MESSAGES, "A text MUST be JSON in UTF-8.")
_TEXT_RULES.declare(
    "DUPLICATE_KEY",
    Severity.ERROR,
    _MESSAGES,
    "An object MUST NOT have two properties of the same name.",
)


_FIRST = "2024-11-05"
_BATCHES = "2025-03-26"
_STATELESS = "2026-07-28"


def _clause(anchor: str) -> Clause:
    return Clause("basic", anchor, before=((_FIRST, "basic/messages", anchor),))


_REQUESTS = _clause("requests")
_RESPONSES = _clause("responses")
_NOTIFICATIONS = _clause("notifications")

ENVELOPE_RULES = RuleSet(Group.MESSAGES)
"""Rules on envelopes and batches."""


NOT_OBJECT = ENVELOPE_RULES.declare(
    "MESSAGE_NOT_OBJECT", Severity.ERROR, _MESSAGES, "A message MUST be an object."
)
VERSION = ENVELOPE_RULES.declare(
    "JSONRPC_VERSION",
    Severity.ERROR,
    _MESSAGES,
    'The property "jsonrpc" of a message MUST be "2.0".',
)
KIND_UNCLEAR = ENVELOPE_RULES.declare(
    "MESSAGE_KIND", Severity.ERROR, _MESSAGES, "A message MUST have a method, a result or an error."
)
METHOD_WITH_ANSWER = ENVELOPE_RULES.declare(
    "METHOD_WITH_ANSWER",
    Severity.ERROR,
    _MESSAGES,
    "A message with a method MUST NOT have a result or an error.",
)
RESULT_WITH_ERROR = ENVELOPE_RULES.declare(
    "RESULT_WITH_ERROR",
    Severity.ERROR,
    _RESPONSES,
    "A response MUST have either a result or an error, and not both.",
)
ID_NULL = ENVELOPE_RULES.declare(
    "ID_NULL",
    Severity.ERROR,
    _REQUESTS,
    "The id of a request or of a result response MUST NOT be null.",
)
ERROR_ID_NULL = ENVELOPE_RULES.declare(
    "ERROR_ID_NULL",
    Severity.WARNING,
    _RESPONSES,
    "An error response that belongs to no request SHOULD have no id: the id is optional in the"
    " published schema, while JSON-RPC requires null. (Until 2025-06-18 it is null, as JSON-RPC"
    " requires, if the id of the request could not be read.)",
)
ID_TYPE = ENVELOPE_RULES.declare(
    "ID_TYPE", Severity.ERROR, _REQUESTS, "The id of a message MUST be a string or an integer."
)
ID_MISSING = ENVELOPE_RULES.declare(
    "ID_MISSING",
    Severity.ERROR,
    _RESPONSES,
    "A response MUST have the id of its request. (Exceptions are error responses of the transport"
    " to a message that is not a request, since 2025-03-26, and error responses to a request whose"
    " id could not be read, since 2025-11-25.)",
)
ERROR_ID_MISSING = ENVELOPE_RULES.declare(
    "ERROR_ID_MISSING",
    Severity.WARNING,
    # Step 4 of the clause. The published schemas of these versions require the id nevertheless.
    Clause("basic/transports", "sending-messages-to-the-server"),
    "An error response SHOULD have the id of its request, unless it is the body of an HTTP error"
    " for a notification or a response.",
    since=_BATCHES,
    until="2025-06-18",
)
REQUEST_WITHOUT_ID = ENVELOPE_RULES.declare(
    "REQUEST_WITHOUT_ID", Severity.ERROR, _REQUESTS, "A request MUST have an id."
)
NOTIFICATION_WITH_ID = ENVELOPE_RULES.declare(
    "NOTIFICATION_WITH_ID", Severity.ERROR, _NOTIFICATIONS, "A notification MUST NOT have an id."
)
NOTIFICATION_ANSWERED = ENVELOPE_RULES.declare(
    "NOTIFICATION_ANSWERED",
    Severity.ERROR,
    _NOTIFICATIONS,
    "The receiver of a notification MUST NOT send a response.",
)
METHOD_TYPE = ENVELOPE_RULES.declare(
    "METHOD_TYPE", Severity.ERROR, _REQUESTS, "The method of a message MUST be a string."
)
PARAMS_TYPE = ENVELOPE_RULES.declare(
    "PARAMS_TYPE", Severity.ERROR, _REQUESTS, "The params of a message MUST be an object."
)
RESULT_TYPE = ENVELOPE_RULES.declare(
    "RESULT_NOT_OBJECT", Severity.ERROR, _RESPONSES, "The result of a response MUST be an object."
)

BATCH_UNSUPPORTED = ENVELOPE_RULES.declare(
    "BATCH_UNSUPPORTED",
    Severity.ERROR,
    _MESSAGES,
    "Messages MUST be sent one by one; only 2025-03-26 has batches.",
)
BATCH_EMPTY = ENVELOPE_RULES.declare(
    "BATCH_EMPTY",
    Severity.ERROR,
    Clause("basic", "batching"),
    "A batch MUST NOT be empty.",
    since=_BATCHES,
    until=_BATCHES,
)
BATCH_MIXED = ENVELOPE_RULES.declare(
    "BATCH_MIXED",
    Severity.ERROR,
    Clause("basic", "batching"),
    "A batch MUST consist of requests and notifications, or of responses.",
    since=_BATCHES,
    until=_BATCHES,
)
BATCH_INITIALIZE = ENVELOPE_RULES.declare(
    "BATCH_INITIALIZE",
    Severity.ERROR,
    Clause("basic/lifecycle", "initialization"),
    "An initialize request MUST NOT be part of a batch.",
    since=_BATCHES,
    until=_BATCHES,
)

_METHOD_RULES = RuleSet(Group.MESSAGES)

METHOD_UNKNOWN = _METHOD_RULES.declare(
    "METHOD_UNKNOWN",
    Severity.WARNING,
    _MESSAGES,
    "A method SHOULD be one of the protocol; no version defines or forbids other methods."
    " (They are not reported if a peer declares extensions or experimental capabilities.)",
)
SERVER_REQUEST = _METHOD_RULES.declare(
    "SERVER_REQUEST",
    Severity.ERROR,
    Clause("basic/patterns", ""),
    "A server MUST NOT send requests; it requests input in results.",
    since="2026-07-28",
)
NOT_IN_VERSION = _METHOD_RULES.declare(
    "METHOD_NOT_IN_VERSION",
    Severity.ERROR,
    _SCHEMA,
    "A method MUST be one of the protocol version.",
)
WRONG_SENDER = _METHOD_RULES.declare(
    "METHOD_WRONG_SENDER",
    Severity.ERROR,
    _SCHEMA,
    "A method MUST be one that its sender, client or server, may send.",
)
PARAMS_MISSING = _METHOD_RULES.declare(
    "PARAMS_MISSING",
    Severity.ERROR,
    _SCHEMA,
    "A message MUST have params if its method requires them.",
)
CLIENT_RESPONSE = _METHOD_RULES.declare(
    "CLIENT_RESPONSE",
    Severity.ERROR,
    # Streamable HTTP has the same requirement, and basic/patterns states it without MUST.
    Clause("basic/transports/stdio", "sending-messages"),
    "A client MUST NOT send responses; servers request input in results.",
    since=_STATELESS,
)


_TASKS = "2025-11-25"
_WITH_MESSAGES = "2025-03-26"

_NOTIFICATION_RULES = RuleSet(Group.NOTIFICATIONS)


@_NOTIFICATION_RULES.rule(
    "CANCELLED_WITHOUT_ID",
    Severity.ERROR,
    Clause("schema", "cancellednotificationparams"),
    "A cancellation MUST have the id of a request. (Tasks are cancelled by "
    "tasks/cancel. In other versions the published schema demands it.)",
    on="CancelledNotificationParams",
    since=_TASKS,
    until=_TASKS,
)
def _cancelled_without_id(params: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(params, dict) and "requestId" not in params:
        yield Fault((), "missing requestId, the id of the request to cancel", "requestId")


@_NOTIFICATION_RULES.rule(
    "PROGRESS_MESSAGE_EMPTY",
    Severity.WARNING,
    Clause(
        "basic/patterns/progress",
        "progress-flow",
        before=((_TASKS, "basic/utilities/progress", "progress-flow"),),
    ),
    "The message of a progress notification SHOULD inform users.",
    on="ProgressNotificationParams",
    since=_WITH_MESSAGES,
)
def _empty_message(params: Any, context: Context) -> Iterator[Fault]:
    message = params.get("message") if isinstance(params, dict) else None
    if isinstance(message, str):
        spend(context.budget, len(message) // 64)
        if not message.strip():
            yield Fault(("message",), "expected a text for people, found none")
