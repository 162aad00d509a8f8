"""The envelope of a message: JSON-RPC.

The envelopes are open: more members than these are allowed, by JSON-RPC and by the
published schemas of every version.
"""

from sidecheck_server.core.mcp.rules.rule import Clause, Rule
from sidecheck_server.core.types import Severity

__all__ = [
    "BATCH_EMPTY",
    "BATCH_INITIALIZE",
    "BATCH_MIXED",
    "BATCH_UNSUPPORTED",
    "ID_MISSING",
    "ID_NULL",
    "ID_TYPE",
    "KIND_UNCLEAR",
    "METHOD_TYPE",
    "METHOD_WITH_ANSWER",
    "NOTIFICATION_ANSWERED",
    "NOTIFICATION_WITH_ID",
    "NOT_OBJECT",
    "PARAMS_TYPE",
    "REQUEST_WITHOUT_ID",
    "RESULT_TYPE",
    "RESULT_WITH_ERROR",
    "RULES",
    "VERSION",
]

_FIRST = "2024-11-05"
_BATCHES = "2025-03-26"


def _clause(anchor: str) -> Clause:
    return Clause("basic", anchor, before=((_FIRST, "basic/messages", anchor),))


_MESSAGES = Clause("basic", "messages", before=((_FIRST, "basic/messages", ""),))
_REQUESTS = _clause("requests")
_RESPONSES = _clause("responses")
_NOTIFICATIONS = _clause("notifications")


def _rule(
    code: str, clause: Clause, sentence: str, since: str = _FIRST, until: str = "2026-07-28"
) -> Rule:
    return Rule(
        code, Severity.ERROR, clause, sentence, ("JSONRPCMessage",), since=since, until=until
    )


NOT_OBJECT = _rule("MESSAGE_NOT_OBJECT", _MESSAGES, "A message is an object.")
VERSION = _rule("JSONRPC_VERSION", _MESSAGES, 'The member "jsonrpc" of a message is "2.0".')
KIND_UNCLEAR = _rule(
    "MESSAGE_KIND", _MESSAGES, "A message has a method, or else a result or an error."
)
METHOD_WITH_ANSWER = _rule(
    "METHOD_WITH_ANSWER", _MESSAGES, "A message with a method has neither a result nor an error."
)
RESULT_WITH_ERROR = _rule(
    "RESULT_WITH_ERROR", _RESPONSES, "A response has a result or an error, not both."
)
ID_NULL = _rule(
    "ID_NULL",
    _REQUESTS,
    "The id of a message is not null. (Until 2025-06-18 the id of an error response is, as"
    " JSON-RPC has it, if that of the request could not be read.)",
)
ID_TYPE = _rule("ID_TYPE", _REQUESTS, "The id of a message is a string or an integer.")
ID_MISSING = _rule(
    "ID_MISSING",
    _RESPONSES,
    "A response has the id of the request. (Since 2025-11-25 an error response has none, if"
    " that of the request could not be read.)",
)
REQUEST_WITHOUT_ID = _rule("REQUEST_WITHOUT_ID", _REQUESTS, "A request has an id.")
NOTIFICATION_WITH_ID = _rule("NOTIFICATION_WITH_ID", _NOTIFICATIONS, "A notification has no id.")
NOTIFICATION_ANSWERED = _rule(
    "NOTIFICATION_ANSWERED", _NOTIFICATIONS, "A notification is not answered."
)
METHOD_TYPE = _rule("METHOD_TYPE", _REQUESTS, "The method of a message is a string.")
PARAMS_TYPE = _rule("PARAMS_TYPE", _REQUESTS, "The params of a message are an object.")
RESULT_TYPE = _rule("RESULT_NOT_OBJECT", _RESPONSES, "The result of a response is an object.")

BATCH_UNSUPPORTED = Rule(
    "BATCH_UNSUPPORTED",
    Severity.ERROR,
    Clause("basic", "messages", before=((_FIRST, "basic/messages", ""),)),
    "Messages come one by one; only 2025-03-26 has batches.",
    ("JSONRPCMessage",),
)
BATCH_EMPTY = _rule(
    "BATCH_EMPTY", Clause("basic", "batching"), "A batch is not empty.", _BATCHES, _BATCHES
)
BATCH_MIXED = _rule(
    "BATCH_MIXED",
    Clause("basic", "batching"),
    "A batch holds requests and notifications, or else responses.",
    _BATCHES,
    _BATCHES,
)
BATCH_INITIALIZE = _rule(
    "BATCH_INITIALIZE",
    Clause("basic/lifecycle", "initialization"),
    "An initialize request is not part of a batch.",
    _BATCHES,
    _BATCHES,
)

RULES: tuple[Rule, ...] = (
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
