"""Rules on the keys of `_meta`, and on the trace context in it.

The keys of the trace context follow W3C Trace Context and W3C Baggage.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.mcp.context import FIRST_STATELESS, Context, Sender
from sidecheck_server.core.mcp.metadata_keys import (
    CLIENT_INFO_KEY,
    MCP_KEYS,
    MCP_PREFIX,
    PROTOCOL_VERSION_KEY,
    RELATED_TASK_KEY,
    SERVER_INFO_KEY,
)
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = ["META", "RESULTS", "is_key", "prefix_of"]

_KEYS, _TASKS, _DISCOVERY = "2025-06-18", "2025-11-25", FIRST_STATELESS
META = Clause("basic", "meta")
"""The clause on `_meta`; before 2026-07-28 its heading is below "General fields"."""

_RELATED = Clause("basic/utilities/tasks", "related-task-metadata")

_METADATA_TYPES = (
    "MetaObject",
    "NotificationMetaObject",
    "RequestMetaObject",
    "ResultMetaObject",
    "SubscriptionsListenResultMetaObject",
)
"""Types of `_meta` objects."""

RESULTS = (
    "CallToolResult",
    "CompleteResult",
    "CreateTaskResult",
    "DiscoverResult",
    "GetPromptResult",
    "GetTaskResult",
    "InputRequiredResult",
    "ListPromptsResult",
    "ListResourceTemplatesResult",
    "ListResourcesResult",
    "ListToolsResult",
    "ReadResourceResult",
    "Result",
    "SubscriptionsListenResult",
    "TaskAcknowledgement",
)
"""Types of the results of servers since 2026-07-28."""

_LABEL = "[A-Za-z](?:[A-Za-z0-9-]*+(?<!-))?"
_PREFIX = re.compile(rf"{_LABEL}(?:\.{_LABEL})*+")
_COUNTRY_CODE_LENGTH = 2
_LAST_LABELS = frozenset({"com", "net", "org"})
_FIRST_LABELS = _LAST_LABELS | {"app", "biz", "cloud", "dev", "edu", "gov", "info", "int", "xyz"}
_NAME = re.compile("(?:[A-Za-z0-9][A-Za-z0-9._-]*+(?<![._-]))?")


def prefix_of(key: str) -> str:
    """Return the prefix of *key* without the slash, or "" if it has none."""
    return key.rpartition("/")[0]


def is_key(key: str) -> bool:
    """Return whether *key* has the syntax of a key of `_meta`."""
    prefix, slash, name = key.rpartition("/")
    return bool((not slash or _PREFIX.fullmatch(prefix)) and _NAME.fullmatch(name))


def _is_reserved(prefix: str, version: str) -> bool:
    labels = prefix.split(".")
    if version >= _TASKS:
        return len(labels) > 1 and labels[1] in {"modelcontextprotocol", "mcp"}
    # Until 2025-06-18 the reserved label is the last but one.
    return len(labels) > 1 and labels[-2] in {"modelcontextprotocol", "mcp"}


_METADATA_RULES = RuleSet(Group.METADATA)


# A warning: the clause binds senders, and the published schemas let receivers accept any key.
# FastMCP 2 sends `_fastmcp`, clients of Sentry send `_sentry`.
@_METADATA_RULES.rule(
    "META_KEY",
    Severity.WARNING,
    META,
    "A key of `_meta` MUST be a name, optionally after a prefix of dotted labels and a slash; "
    "receivers accept any key.",
    on=_METADATA_TYPES,
    since=_KEYS,
)
def _meta_key(value: Any, context: Context) -> Iterable[Fault]:
    if not isinstance(value, dict) or value.keys() <= MCP_KEYS:
        return ()
    return _find_malformed_keys(value, context)


def _find_malformed_keys(meta: dict[str, Any], context: Context) -> Iterator[Fault]:
    for key in meta:
        spend(context.budget, 30 + len(key))
        if key not in MCP_KEYS and not is_key(key):
            label = Values(hidden=context.hide_values).property_named(key, "the key")
            yield Fault((key,), f"expected a key such as com.example/name, found {label}")


@_METADATA_RULES.rule(
    "META_PREFIX_RESERVED",
    Severity.WARNING,
    META,
    "Prefixes reserved for MCP SHOULD be used only by the specification and its extensions.",
    on=_METADATA_TYPES,
    since=_KEYS,
)
def _meta_prefix_reserved(value: Any, context: Context) -> Iterable[Fault]:
    if not isinstance(value, dict) or value.keys() <= MCP_KEYS:
        return ()
    return _find_reserved_keys(value, context)


def _find_reserved_keys(meta: dict[str, Any], context: Context) -> Iterator[Fault]:
    for key in meta:
        # Extensions of the protocol define keys under its prefix.
        if "/" in key and key not in MCP_KEYS and not key.startswith(MCP_PREFIX):
            spend(context.budget, 40 + len(key))
            prefix = prefix_of(key)
            if _PREFIX.fullmatch(prefix) and _is_reserved(prefix, context.version):
                label = Values(hidden=context.hide_values).property_named(prefix, "the prefix")
                yield Fault((key,), f"{label} is reserved for MCP")


@_METADATA_RULES.rule(
    "META_PREFIX_ORDER",
    Severity.WARNING,
    META,
    "The prefix of a key of `_meta` SHOULD be a domain name in reverse order.",
    on=_METADATA_TYPES,
    since=_TASKS,
)
def _meta_prefix_order(value: Any, context: Context) -> Iterable[Fault]:
    if not isinstance(value, dict) or value.keys() <= MCP_KEYS:
        return ()
    return _find_forward_prefixes(value, context)


def _find_forward_prefixes(meta: dict[str, Any], context: Context) -> Iterator[Fault]:
    for key in meta:
        if "/" not in key or key in MCP_KEYS:
            continue
        spend(context.budget, 40 + len(key))
        prefix = prefix_of(key)
        if _PREFIX.fullmatch(prefix) and _is_forward(prefix.lower().split(".")):
            label = Values(hidden=context.hide_values).property_named(prefix, "the prefix")
            message = f"expected a domain name in reverse order such as com.example, found {label}"
            yield Fault((key,), message)


def _is_forward(labels: list[str]) -> bool:
    """Return whether *labels* are certainly a domain name that is not reversed.

    The last label is a common top-level domain, and the first label is neither a country code,
    which has two letters, nor another common top-level domain.
    """
    first, last = labels[0], labels[-1]
    return last in _LAST_LABELS and len(first) > _COUNTRY_CODE_LENGTH and first not in _FIRST_LABELS


@_METADATA_RULES.rule(
    "META_RELATED_TASK",
    Severity.ERROR,
    _RELATED,
    "`io.modelcontextprotocol/related-task` MUST be an object with a `taskId`.",
    on=_METADATA_TYPES,
    since=_TASKS,
    until=_TASKS,
)
def _meta_related_task(value: Any, context: Context) -> Iterable[Fault]:
    if not (isinstance(value, dict) and RELATED_TASK_KEY in value):
        return ()
    task = value[RELATED_TASK_KEY]
    if isinstance(task, dict) and isinstance(task.get("taskId"), str):
        return ()
    description = Values(hidden=context.hide_values).describe(task)
    message = f"expected an object with the string taskId, found {description}"
    return (Fault((RELATED_TASK_KEY,), message),)


@_METADATA_RULES.rule(
    "META_PROTOCOL_VERSION",
    Severity.ERROR,
    Clause("basic/versioning", "protocol-version-negotiation"),
    "A request of a version other than the server's MUST be rejected.",
    on="RequestMetaObject",
    since=_DISCOVERY,
)
def _meta_protocol_version(value: Any, context: Context) -> Iterable[Fault]:
    version = value.get(PROTOCOL_VERSION_KEY) if isinstance(value, dict) else None
    if version == context.version or type(version) is not str:
        return ()
    description = Values(hidden=context.hide_values).describe(version)
    message = f'expected "{context.version}", found {description}'
    return (Fault((PROTOCOL_VERSION_KEY,), message, context.version),)


@_METADATA_RULES.rule(
    "META_CLIENT_INFO",
    Severity.WARNING,
    META,
    "A request SHOULD name the client software in `io.modelcontextprotocol/clientInfo`.",
    on="RequestMetaObject",
    since=_DISCOVERY,
)
def _meta_client_info(value: Any, _context: Context) -> Iterable[Fault]:
    if not isinstance(value, dict) or CLIENT_INFO_KEY in value:
        return ()
    return (
        Fault((), f"missing {CLIENT_INFO_KEY}, which names the client software", CLIENT_INFO_KEY),
    )


@_METADATA_RULES.rule(
    "META_SERVER_INFO",
    Severity.WARNING,
    META,
    "A result SHOULD name the server software in `io.modelcontextprotocol/serverInfo`.",
    on=RESULTS,
    since=_DISCOVERY,
)
def _meta_server_info(value: Any, context: Context) -> Iterable[Fault]:
    meta = value.get("_meta", {}) if isinstance(value, dict) else None
    if not isinstance(meta, dict) or SERVER_INFO_KEY in meta or context.sender is Sender.CLIENT:
        return ()
    return (
        Fault(
            (),
            f"missing {SERVER_INFO_KEY} in _meta, which names the server software",
            SERVER_INFO_KEY,
        ),
    )


@_METADATA_RULES.rule(
    "META_RELATED_TASK_MISSING",
    Severity.ERROR,
    _RELATED,
    "The result of tasks/result MUST name its task in `_meta`.",
    on="GetTaskPayloadResult",
    since=_TASKS,
    until=_TASKS,
)
def _related_task_missing(value: Any, _context: Context) -> Iterator[Fault]:
    meta = value.get("_meta", {}) if isinstance(value, dict) else None
    if isinstance(meta, dict) and RELATED_TASK_KEY not in meta:
        yield Fault((), f"missing {RELATED_TASK_KEY} in _meta", RELATED_TASK_KEY)


@_METADATA_RULES.rule(
    "META_RELATED_TASK_REDUNDANT",
    Severity.WARNING,
    _RELATED,
    "Messages that name a task in their params or result SHOULD NOT name it in `_meta` too.",
    on=(
        "CancelTaskRequestParams",
        "CancelTaskResult",
        "GetTaskPayloadRequestParams",
        "GetTaskRequestParams",
        "GetTaskResult",
        "ListTasksResult",
        "TaskStatusNotificationParams",
    ),
    since=_TASKS,
    until=_TASKS,
)
def _related_task_redundant(value: Any, _context: Context) -> Iterator[Fault]:
    meta = value.get("_meta") if isinstance(value, dict) else None
    if isinstance(meta, dict) and RELATED_TASK_KEY in meta:
        yield Fault(("_meta", RELATED_TASK_KEY), "the task is already named outside of _meta")


_TRACE_RULES = RuleSet(Group.TRACE_CONTEXT, on=_METADATA_TYPES, since="2026-07-28")

# Later versions may append fields to the flags (Trace Context, section 3.2.4).
_TRACEPARENT = re.compile(
    "(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?", re.DOTALL
)
_STATE_KEY = "[a-z0-9_*/-]"
_STATE = re.compile(
    rf"((?:[a-z]{_STATE_KEY}{{0,255}}|[a-z0-9]{_STATE_KEY}{{0,240}}@[a-z]{_STATE_KEY}{{0,13}}))"
    "=[ !-+\\--<>-~]{0,255}[!-+\\--<>-~]"
)
_MAX_STATES = 32

_TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]++"  # noqa: S105 - a token of HTTP
_SPACE = "[ \\t]*+"
_VALUE = "[!#-+\\--:<-\\[\\]-~]*+"
_PAIR = rf"{_SPACE}{_TOKEN}{_SPACE}={_SPACE}{_VALUE}{_SPACE}"
_PROPERTY = rf";{_SPACE}{_TOKEN}{_SPACE}(?:={_SPACE}{_VALUE}{_SPACE})?"
_MEMBER = re.compile(rf"{_PAIR}(?:{_PROPERTY})*+")


def _is_traceparent(text: str, budget: Budget) -> bool:
    """Return whether *text* is a `traceparent`."""
    spend(budget, 40)
    match = _TRACEPARENT.fullmatch(text)
    return bool(match and (match[1] != "00" or not match[2]))


def _is_tracestate(text: str, budget: Budget) -> bool:
    """Return whether *text* is a `tracestate`."""
    spend(budget, 40 + len(text))
    members = [member.strip(" \t") for member in text.split(",")]
    if len(members) > _MAX_STATES:
        return False
    # Empty members are allowed.
    matches = [_STATE.fullmatch(member) for member in members if member]
    keys = {match[1] for match in matches if match}
    return len(keys) == len(matches)


def _is_baggage(text: str, budget: Budget) -> bool:
    """Return whether *text* is a `baggage`."""
    spend(budget, 40 + len(text))
    return all(map(_MEMBER.fullmatch, text.split(",")))


def _check_trace_key(
    name: str,
    is_valid: Callable[[str, Budget], bool],
    expected: str,
    value: Any,
    context: Context,
) -> Iterable[Fault]:
    if type(value) is not dict or name not in value:
        return ()
    text = value[name]
    if isinstance(text, str) and is_valid(text, context.budget):
        return ()
    description = Values(hidden=context.hide_values).describe(text)
    return (Fault((name,), f"expected {expected}, found {description}"),)


for _name, _standard, _is_valid, _contents in (
    (
        "traceparent",
        "W3C Trace Context",
        _is_traceparent,
        "version, trace id, parent id and flags",
    ),
    ("tracestate", "W3C Trace Context", _is_tracestate, "at most 32 keys with values"),
    ("baggage", "W3C Baggage", _is_baggage, "keys with values"),
):
    _TRACE_RULES.declare(
        f"META_{_name.upper()}",
        Severity.ERROR,
        META,
        f"`{_name}` MUST have the format of {_standard}.",
        check=partial(_check_trace_key, _name, _is_valid, f"{_contents} as in {_standard}"),
    )
