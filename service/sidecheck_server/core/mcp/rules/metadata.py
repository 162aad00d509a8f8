"""The keys of `_meta`: their grammar, those that must be there, and those with a format."""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules import tracing
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule, sparing
from sidecheck_server.core.types import Severity

__all__ = ["RESULTS", "RULES", "is_key", "prefix_of"]

_KEYS, _TASKS, _DISCOVERY = "2025-06-18", "2025-11-25", "2026-07-28"
# Before 2026-07-28, `_meta` is a heading below "General fields" like any other.
_META = Clause("basic", "meta")
_RELATED = Clause("basic/utilities/tasks", "related-task-metadata")

_METADATA = (
    "MetaObject",
    "NotificationMetaObject",
    "RequestMetaObject",
    "ResultMetaObject",
    "SubscriptionsListenResultMetaObject",
)
RESULTS = (
    "CallToolResult",
    "CompleteResult",
    "DiscoverResult",
    "GetPromptResult",
    "InputRequiredResult",
    "ListPromptsResult",
    "ListResourceTemplatesResult",
    "ListResourcesResult",
    "ListToolsResult",
    "ReadResourceResult",
    "Result",
    "SubscriptionsListenResult",
)
"""The results that servers send since 2026-07-28."""

_OURS = "io.modelcontextprotocol/"
_RELATED_TASK = f"{_OURS}related-task"
_VERSION = f"{_OURS}protocolVersion"
_CLIENT, _SERVER = f"{_OURS}clientInfo", f"{_OURS}serverInfo"
_KNOWN = frozenset(
    {
        "progressToken",
        "traceparent",
        "tracestate",
        "baggage",
        _RELATED_TASK,
        _VERSION,
        _CLIENT,
        _SERVER,
        *(
            f"{_OURS}{name}"
            for name in (
                "clientCapabilities",
                "logLevel",
                "model-immediate-response",
                "subscriptionId",
            )
        ),
    }
)
_PLAIN = _KNOWN - {"traceparent", "tracestate", "baggage", _RELATED_TASK}
_LABEL = "[A-Za-z](?:[A-Za-z0-9-]*+(?<!-))?"
_PREFIX = re.compile(rf"{_LABEL}(?:\.{_LABEL})*+")
_NAME = re.compile("(?:[A-Za-z0-9][A-Za-z0-9._-]*+(?<![._-]))?")


def prefix_of(key: str) -> str:
    """Return the prefix of *key* without the slash, or "" if it has none."""
    return key.rpartition("/")[0]


def is_key(key: str) -> bool:
    """Return whether *key* has the form of a key of `_meta`."""
    prefix, slash, name = key.rpartition("/")
    return bool((not slash or _PREFIX.fullmatch(prefix)) and _NAME.fullmatch(name))


def _is_reserved(prefix: str, version: str) -> bool:
    labels = prefix.split(".")
    if version >= _TASKS:
        return len(labels) > 1 and labels[1] in {"modelcontextprotocol", "mcp"}
    # Any number of labels, one of the two names, and one more label.
    return len(labels) > 1 and labels[-2] in {"modelcontextprotocol", "mcp"}


@rule(
    "META_KEY",
    severity=Severity.ERROR,
    clause=_META,
    sentence="A key of `_meta` is a name, or a prefix of labels with dots, a slash, and a name.",
    on=_METADATA,
    since=_KEYS,
)
def _key(value: Any, context: Context) -> Iterator[Fault]:
    if not isinstance(value, dict):
        return
    for key in value:
        spend(context.budget, 30 + len(key))
        if key not in _KNOWN and not is_key(key):
            shown = Values(hidden=context.hide_values).property_named(key, "the key")
            yield Fault((key,), f"expected a key such as com.example/name, found {shown}")


@rule(
    "META_PREFIX_RESERVED",
    severity=Severity.WARNING,
    clause=_META,
    sentence="A prefix reserved for MCP is left to the specification and its extensions.",
    on=_METADATA,
    since=_KEYS,
)
def _reserved(value: Any, context: Context) -> Iterator[Fault]:
    if not isinstance(value, dict):
        return
    for key in value:
        # Extensions of the protocol define keys below its own prefix.
        if "/" in key and key not in _KNOWN and not key.startswith(_OURS):
            spend(context.budget, 40 + len(key))
            prefix = prefix_of(key)
            if _PREFIX.fullmatch(prefix) and _is_reserved(prefix, context.version):
                shown = Values(hidden=context.hide_values).property_named(prefix, "the prefix")
                yield Fault((key,), f"{shown} is reserved for MCP")


@rule(
    "META_PROTOCOL_VERSION",
    severity=Severity.ERROR,
    clause=Clause("basic/versioning", "protocol-version-negotiation"),
    sentence="The protocol version of a request is the one by whose rules it is judged.",
    on="RequestMetaObject",
    since=_DISCOVERY,
)
def _version(value: Any, context: Context) -> Iterable[Fault]:
    version = value.get(_VERSION) if isinstance(value, dict) else None
    if version == context.version or type(version) is not str:
        return ()
    found = Values(hidden=context.hide_values).found(version)
    said = f'expected "{context.version}", found {found}'
    return (Fault((_VERSION,), said, context.version),)


@rule(
    "META_CLIENT_INFO",
    severity=Severity.WARNING,
    clause=_META,
    sentence="A request names the client software in `io.modelcontextprotocol/clientInfo`.",
    on="RequestMetaObject",
    since=_DISCOVERY,
)
def _client_info(value: Any, _context: Context) -> Iterable[Fault]:
    if not isinstance(value, dict) or _CLIENT in value:
        return ()
    return (Fault((), f"expected {_CLIENT}, which names the client software", _CLIENT),)


@rule(
    "META_SERVER_INFO",
    severity=Severity.WARNING,
    clause=_META,
    sentence="A result names the server software in `io.modelcontextprotocol/serverInfo`.",
    on=RESULTS,
    since=_DISCOVERY,
)
def _server_info(value: Any, _context: Context) -> Iterable[Fault]:
    meta = value.get("_meta", {}) if isinstance(value, dict) else None
    if not isinstance(meta, dict) or _SERVER in meta:
        return ()
    return (Fault((), f"expected {_SERVER} in _meta, which names the server software", _SERVER),)


@rule(
    "META_RELATED_TASK",
    severity=Severity.ERROR,
    clause=_RELATED,
    sentence="`io.modelcontextprotocol/related-task` is an object with a `taskId`.",
    on=_METADATA,
    since=_TASKS,
    until=_TASKS,
)
def _related_task(value: Any, context: Context) -> Iterator[Fault]:
    if not (isinstance(value, dict) and _RELATED_TASK in value):
        return
    task = value[_RELATED_TASK]
    if not (isinstance(task, dict) and isinstance(task.get("taskId"), str)):
        found = Values(hidden=context.hide_values).found(task)
        said = f"expected an object with the text taskId, found {found}"
        yield Fault((_RELATED_TASK,), said)


@rule(
    "META_RELATED_TASK_MISSING",
    severity=Severity.ERROR,
    clause=_RELATED,
    sentence="The result of tasks/result names its task in `_meta`, as nothing else in it does.",
    on="GetTaskPayloadResult",
    since=_TASKS,
    until=_TASKS,
)
def _related_task_missing(value: Any, _context: Context) -> Iterator[Fault]:
    meta = value.get("_meta", {}) if isinstance(value, dict) else None
    if isinstance(meta, dict) and _RELATED_TASK not in meta:
        yield Fault((), f"expected {_RELATED_TASK} in _meta", _RELATED_TASK)


@rule(
    "META_RELATED_TASK_REDUNDANT",
    severity=Severity.WARNING,
    clause=_RELATED,
    sentence="Messages that name a task in their params or result do not name it in `_meta` too.",
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
    if isinstance(meta, dict) and _RELATED_TASK in meta:
        yield Fault(("_meta", _RELATED_TASK), "the task is named beside _meta already")


def _traced(name: str, value: Any, context: Context) -> Iterable[Fault]:
    if type(value) is not dict or name not in value:
        return ()
    text = value[name]
    if isinstance(text, str) and tracing.FORMATS[name](text, context.budget):
        return ()
    found = Values(hidden=context.hide_values).found(text)
    return (Fault((name,), f"expected {tracing.EXPECTED[name]}, found {found}"),)


def _trace_rule(name: str, sentence: str) -> Rule:
    return Rule(
        f"META_{name.upper()}",
        Severity.ERROR,
        _META,
        sentence,
        _METADATA,
        partial(_traced, name),
        since=_DISCOVERY,
    )


def _is_plain(value: Any, _context: Context) -> bool:
    """Return whether *value* has no keys but those whose values are a matter of shape."""
    return type(value) is dict and value.keys() <= _PLAIN


_OF_KEYS = (
    _key,
    _reserved,
    _related_task,
    _trace_rule("traceparent", "`traceparent` has the format of W3C Trace Context."),
    _trace_rule("tracestate", "`tracestate` has the format of W3C Trace Context."),
    _trace_rule("baggage", "`baggage` has the format of W3C Baggage."),
)

RULES: tuple[Rule, ...] = (
    *sparing(_is_plain, _OF_KEYS),
    _version,
    _client_info,
    _server_info,
    _related_task_missing,
    _related_task_redundant,
)
