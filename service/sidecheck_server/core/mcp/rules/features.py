"""Rules on features: completion, roots, lists, subscriptions, logging and others.

Until 2025-11-25 the client sets one log level for the session; without a level, the server
decides what it sends. Since 2026-07-28 each request declares its log level. Log messages do not
name their request, so a message is certainly unrequested only if no open request has a level.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.formats.identifiers import is_uri
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE, Context
from sidecheck_server.core.mcp.metadata_keys import SUBSCRIPTION_ID_KEY, read_metadata
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, Rule, RuleSet, type_clause
from sidecheck_server.core.mcp.text_encodings import is_iso_8601
from sidecheck_server.core.types import Severity

__all__ = [
    "LEVELS",
    "LIST_MISSING",
    "LOG_BELOW_LEVEL",
    "LOG_UNASKED",
    "PROMPT_ARGUMENT_MISSING",
    "RESOURCE_NOT_SUBSCRIBED",
    "SUBSCRIPTION_ACKNOWLEDGED_UNASKED",
    "SUBSCRIPTION_NOT_ACKNOWLEDGED",
    "SUBSCRIPTION_NOT_ASKED",
    "SUBSCRIPTION_UNKNOWN",
    "TOOLS_ORDER_CHANGED",
]

_TASKS_PAGE = "basic/utilities/tasks"
_TASKS = "2025-11-25"
#: Statuses that a new task cannot have; the schema rejects unknown statuses.
_LATER_STATUSES = ("input_required", "completed", "failed", "cancelled")

_MAX_COMPLETIONS = 100
_FILE_SCHEME = "file://"

_DEPRECATED = Clause("deprecated", "deprecated")
_DEPRECATED_SINCE = "2026-07-28"

_FEATURE_RULES = RuleSet(Group.FEATURES)


@_FEATURE_RULES.rule(
    "TASK_BEGINS_WORKING",
    Severity.ERROR,
    Clause(_TASKS_PAGE, "task-status-lifecycle"),
    'A task MUST begin with the status "working".',
    on="CreateTaskResult",
    since=_TASKS,
    until=_TASKS,
)
def _task_begins_working(result: Any, context: Context) -> Iterator[Fault]:
    task = result.get("task") if isinstance(result, dict) else None
    status = task.get("status") if isinstance(task, dict) else None
    if status in _LATER_STATUSES:
        description = Values(hidden=context.hide_values).describe(status)
        message = f'a task must begin with the status "working", found {description}'
        yield Fault(("task", "status"), message, "working")


@_FEATURE_RULES.rule(
    "TASK_TIMESTAMP",
    Severity.ERROR,
    Clause(_TASKS_PAGE, "ttl-and-resource-management"),
    "createdAt and lastUpdatedAt of a task MUST be ISO 8601 timestamps.",
    on=("Task", "GetTaskResult", "CancelTaskResult", "TaskStatusNotificationParams"),
    since=_TASKS,
    until=_TASKS,
)
def _timestamps(task: Any, context: Context) -> Iterator[Fault]:
    if not isinstance(task, dict):
        return
    for name in ("createdAt", "lastUpdatedAt"):
        timestamp = task.get(name)
        if isinstance(timestamp, str) and not is_iso_8601(timestamp):
            description = Values(hidden=context.hide_values).describe(timestamp)
            message = (
                f"{name} must be an ISO 8601 timestamp such as 2025-11-25T10:30:00Z; "
                f"found {description}"
            )
            yield Fault((name,), message)


@_FEATURE_RULES.rule(
    "COMPLETION_TOO_LONG",
    Severity.ERROR,
    Clause("server/utilities/completion", "completion-results"),
    "A completion MUST have at most 100 values. (Since 2026-07-28 the published "
    "schema demands it.)",
    on="CompleteResult",
    until="2025-11-25",
)
def _completion_length(result: Any, _context: Context) -> Iterator[Fault]:
    completion = result.get("completion") if isinstance(result, dict) else None
    values = completion.get("values") if isinstance(completion, dict) else None
    if isinstance(values, list) and len(values) > _MAX_COMPLETIONS:
        message = f"expected at most {_MAX_COMPLETIONS} values, found {len(values)}"
        yield Fault(("completion", "values"), message)


@_FEATURE_RULES.rule(
    "ROOT_URI",
    Severity.ERROR,
    Clause("client/roots", "root"),
    "The uri of a root MUST be a file:// URI.",
    on="Root",
)
def _root_uri(root: Any, context: Context) -> Iterator[Fault]:
    uri = root.get("uri") if isinstance(root, dict) else None
    if not isinstance(uri, str):
        return
    spend(context.budget, min(len(uri), 1 << 16) // 8 + 40)
    if uri[: len(_FILE_SCHEME)].lower() != _FILE_SCHEME or not is_uri(uri):
        description = Values(hidden=context.hide_values).describe(uri)
        yield Fault(
            ("uri",), f"uri must be a file:// URI such as file:///home/ann; found {description}"
        )


@_FEATURE_RULES.rule(
    "ROOTS_DEPRECATED",
    Severity.WARNING,
    _DEPRECATED,
    "Roots are deprecated: locations SHOULD be passed in tool parameters, resource URIs "
    "or the settings of the server.",
    on="ListRootsRequest",
    since=_DEPRECATED_SINCE,
)
def _roots_deprecated(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "roots are deprecated since 2026-07-28 (SEP-2577)")


@_FEATURE_RULES.rule(
    "LOGGING_DEPRECATED",
    Severity.WARNING,
    _DEPRECATED,
    "Logging by notifications is deprecated: servers SHOULD write to stderr or use OpenTelemetry.",
    on="LoggingMessageNotificationParams",
    since=_DEPRECATED_SINCE,
)
def _logging_deprecated(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "logging by notifications is deprecated since 2026-07-28 (SEP-2577)")


_SINCE = "2026-07-28"

_LIST_RULES = RuleSet(Group.LISTS, since=_SINCE)


def _declare_list_missing(feature: str) -> Rule:
    return _LIST_RULES.declare(
        f"{feature.upper()}_LIST_MISSING",
        Severity.ERROR,
        Clause(f"server/{feature}", "capabilities"),
        f"A server that declared the capability {feature} MUST answer {feature}/list.",
    )


LIST_MISSING: Mapping[str, tuple[str, Rule]] = MappingProxyType(
    {
        f"{name}/list": (name, _declare_list_missing(name))
        for name in ("tools", "prompts", "resources")
    }
)
"""Capability of each list method, and the rule that requires a response with a result."""

TOOLS_ORDER_CHANGED = _LIST_RULES.declare(
    "TOOLS_ORDER_CHANGED",
    Severity.WARNING,
    Clause("server/tools", "capabilities"),
    "A server SHOULD list the same tools in the same order each time.",
    needs_whole_session=True,
)

_CACHING_RULES = RuleSet(Group.CACHING, on="InputRequiredResult")


@_CACHING_RULES.rule(
    "CACHE_HINT_MISPLACED",
    Severity.WARNING,
    Clause("server/utilities/caching", "cacheable-results"),
    "A result that requests input is not cacheable and SHOULD NOT have caching hints.",
    since="2026-07-28",
)
def _cache_hint_misplaced(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict):
        for name in ("ttlMs", "cacheScope"):
            if name in value:
                yield Fault((name,), f"{name} has no effect on a result that requests input")


_PROMPT_RULES = RuleSet(Group.PROMPTS)

PROMPT_ARGUMENT_MISSING = _PROMPT_RULES.declare(
    "PROMPT_ARGUMENT_MISSING",
    # "Whether this argument must be provided" (PromptArgument).
    Severity.WARNING,
    type_clause("PromptArgument"),
    "A prompt SHOULD be requested with the arguments that its listing requires.",
    needs_whole_session=True,
)


_HANDSHAKE, _STATELESS = LAST_HANDSHAKE, FIRST_STATELESS
_PAGE = "basic/patterns/subscriptions"

_SUBSCRIPTION_RULES = RuleSet(Group.SUBSCRIPTIONS, needs_whole_session=True)

SUBSCRIPTION_UNKNOWN = _SUBSCRIPTION_RULES.declare(
    "SUBSCRIPTION_UNKNOWN",
    Severity.ERROR,
    Clause(_PAGE, "receiving-notifications"),
    "A message of a subscription MUST have the id of an open subscriptions/listen request.",
    since=_STATELESS,
)
SUBSCRIPTION_NOT_ASKED = _SUBSCRIPTION_RULES.declare(
    "SUBSCRIPTION_NOT_ASKED",
    Severity.ERROR,
    Clause(_PAGE, "opening-a-stream"),
    "A server MUST NOT send notifications that a subscription does not include.",
    since=_STATELESS,
)
SUBSCRIPTION_NOT_ACKNOWLEDGED = _SUBSCRIPTION_RULES.declare(
    "SUBSCRIPTION_NOT_ACKNOWLEDGED",
    Severity.ERROR,
    Clause(_PAGE, "acknowledgment"),
    "The first message of a subscription MUST be its acknowledgment.",
    since=_STATELESS,
)
SUBSCRIPTION_ACKNOWLEDGED_UNASKED = _SUBSCRIPTION_RULES.declare(
    "SUBSCRIPTION_ACKNOWLEDGED_UNASKED",
    # "Reflects the subset": the text has no MUST for the contents of the acknowledgment.
    Severity.WARNING,
    Clause(_PAGE, "acknowledgment"),
    "An acknowledgment SHOULD have only notifications that the subscription includes.",
    since=_STATELESS,
)
RESOURCE_NOT_SUBSCRIBED = _SUBSCRIPTION_RULES.declare(
    "RESOURCE_NOT_SUBSCRIBED",
    # The type "should only be sent if the client previously sent" a subscription.
    Severity.WARNING,
    type_clause("ResourceUpdatedNotification"),
    "A server SHOULD send updates only of resources that the client subscribed to, or of their"
    " sub-resources.",
    until=_HANDSHAKE,
)


LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Levels of log messages, in ascending severity (RFC 5424, section 6.2.1)."""

_LOG_PAGE = "server/utilities/logging"
_PER_REQUEST = Clause(_LOG_PAGE, "per-request-log-level")

_LOG_RULES = RuleSet(Group.LOGGING)

LOG_UNASKED = _LOG_RULES.declare(
    "LOG_UNASKED",
    Severity.ERROR,
    _PER_REQUEST,
    "A server MUST NOT send log messages for a request without"
    " `io.modelcontextprotocol/logLevel` in its `_meta`, nor after the response.",
    since=_STATELESS,
    needs_whole_session=True,
)
LOG_BELOW_LEVEL = _LOG_RULES.declare(
    "LOG_BELOW_LEVEL",
    # "At or above" the requested level the server MAY send (2026-07-28); before, it "should
    # send all logs at this level and higher" (SetLevelRequest). Neither page says MUST NOT.
    Severity.WARNING,
    Clause(
        _LOG_PAGE, "per-request-log-level", before=((_HANDSHAKE, _LOG_PAGE, "setting-log-level"),)
    ),
    "A server SHOULD send log messages only at or above the level that the client set, and"
    " since 2026-07-28 that an open request asks for.",
    needs_whole_session=True,
)


@_LOG_RULES.rule(
    "LOG_ON_SUBSCRIPTION",
    Severity.ERROR,
    _PER_REQUEST,
    "A server MUST NOT send log messages as part of a subscription.",
    on="LoggingMessageNotificationParams",
    since=_STATELESS,
)
def _log_on_subscription(params: Any, _context: Context) -> Iterator[Fault]:
    if SUBSCRIPTION_ID_KEY in read_metadata(params):
        message = (
            f"a log message belongs to no subscription, so it must have no {SUBSCRIPTION_ID_KEY}"
        )
        yield Fault(("_meta", SUBSCRIPTION_ID_KEY), message)
