"""Table of methods: senders, types of params and results, needed capabilities."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sidecheck_server.core.mcp.context import VERSIONS, Sender

__all__ = [
    "EXTENSION_METHODS",
    "INPUT_REQUESTS",
    "METHODS",
    "PLAIN_PROPERTIES",
    "TASKS_EXTENSION",
    "InputRequest",
    "Method",
    "Need",
    "find_method",
]

TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
"""Identifier of the tasks extension (SEP-2663)."""


@dataclass(frozen=True, slots=True)
class Need:
    """A capability that one side must have declared."""

    #: Side that declares it.
    side: Sender
    #: Dotted path in the capabilities, for example ``resources.subscribe``. The capability is
    #: declared if its value is an object or true.
    path: str


@dataclass(frozen=True, slots=True)
class Method:
    """A request or notification of one sender, in versions from *since* to *until*."""

    name: str
    sender: Sender
    #: Type of its params.
    params: str
    #: Type of its result, or None for a notification.
    result: str | None
    #: Whether its params are required.
    params_required: bool = False
    needs: Need | None = None
    #: Capability to send it as a task (with ``params.task``), or None if it cannot be a task.
    #: The result of a request as a task is a ``CreateTaskResult``.
    needs_as_task: Need | None = None
    #: Whether its result may be an ``InputRequiredResult`` instead.
    may_request_input: bool = False
    #: Identifier of the extension that defines it, or "" for the protocol itself.
    extension: str = ""
    since: str = VERSIONS[0]
    until: str = VERSIONS[-1]

    @property
    def is_request(self) -> bool:
        """Whether it has a response."""
        return self.result is not None

    def holds_in(self, version: str) -> bool:
        """Return whether *version* has the method."""
        return self.since <= version <= self.until


@dataclass(frozen=True, slots=True)
class InputRequest:
    """A request in an ``InputRequiredResult``. The client's retry has the response."""

    name: str
    #: Type of its params.
    params: str
    #: Type of its response in ``inputResponses``.
    result: str
    #: Whether its params are required.
    params_required: bool
    #: Capability that the client must have declared.
    needs: Need


_FIRST, _LAST = VERSIONS[0], VERSIONS[-1]
_BEFORE_TASKS, _TASKS, _DISCOVERY = VERSIONS[-3:]
#: Last version with a handshake and with server requests.
_HANDSHAKE = _TASKS

_CLIENT, _SERVER = Sender.CLIENT, Sender.SERVER


def _request(  # noqa: PLR0913 - the columns of a table.
    sender: Sender,
    name: str,
    params: str,
    result: str,
    needs: str = "",
    *,
    bare: bool = False,
    as_task: str = "",
    may_request_input: bool = False,
    since: str = _FIRST,
    until: str = _LAST,
) -> tuple[Method, ...]:
    """Return the methods of a request: one per span of versions with equal properties.

    The receiver must declare the capability *needs*. The params of a *bare* request are
    optional before 2026-07-28; since then their `_meta` declares version and capabilities.
    """
    receiver = sender.peer
    spans = [(since, until)]
    for border, last in ((_TASKS, _BEFORE_TASKS), (_DISCOVERY, _TASKS)):
        start, end = spans[-1]
        differs = as_task or (border == _DISCOVERY and (bare or may_request_input))
        if differs and start < border <= end:
            spans[-1:] = [(start, last), (border, end)]
    return tuple(
        Method(
            name,
            sender,
            params,
            result,
            params_required=not bare or start >= _DISCOVERY,
            needs=Need(receiver, needs) if needs else None,
            needs_as_task=Need(receiver, as_task) if as_task and start == _TASKS else None,
            may_request_input=may_request_input and start >= _DISCOVERY,
            since=start,
            until=end,
        )
        for start, end in spans
    )


def _shared_request(
    name: str, params: str, result: str, needs: str = "", *, bare: bool = False, since: str
) -> tuple[Method, ...]:
    """Return the methods of a request of both sides, in versions with server requests."""
    return tuple(
        method
        for sender in Sender
        for method in _request(
            sender, name, params, result, needs, bare=bare, since=since, until=_HANDSHAKE
        )
    )


def _notification(  # noqa: PLR0913 - the columns of a table.
    sender: Sender,
    name: str,
    params: str,
    needs: str = "",
    *,
    bare: bool = False,
    side: Sender | None = None,
    since: str = _FIRST,
    until: str = _LAST,
) -> Method:
    """Return a notification. *side*, by default its sender, must declare *needs*."""
    return Method(
        name,
        sender,
        params,
        None,
        params_required=not bare,
        needs=Need(side or sender, needs) if needs else None,
        since=since,
        until=until,
    )


_LIST = "PaginatedRequestParams"
_TEMPLATES = "ListResourceTemplatesResult"
_READ = ("resources/read", "ReadResourceRequestParams", "ReadResourceResult")
_SUBSCRIBE = ("resources/subscribe", "SubscribeRequestParams", "EmptyResult")
_UNSUBSCRIBE = ("resources/unsubscribe", "UnsubscribeRequestParams", "EmptyResult")
_LISTEN = (
    "subscriptions/listen",
    "SubscriptionsListenRequestParams",
    "SubscriptionsListenResult",
)
_CALL = ("tools/call", "CallToolRequestParams", "CallToolResult")
_COMPLETE = ("completion/complete", "CompleteRequestParams", "CompleteResult")
_SAMPLE = ("sampling/createMessage", "CreateMessageRequestParams", "CreateMessageResult")
_ELICIT = ("elicitation/create", "ElicitRequestParams", "ElicitResult")
_ROOTS = ("roots/list", "ListRootsRequestParams", "ListRootsResult")


_REQUESTS = (
    *_request(
        _CLIENT, "initialize", "InitializeRequestParams", "InitializeResult", until=_HANDSHAKE
    ),
    *_request(_CLIENT, "server/discover", "RequestParams", "DiscoverResult", since=_DISCOVERY),
    *_request(_CLIENT, "resources/list", _LIST, "ListResourcesResult", "resources", bare=True),
    *_request(_CLIENT, "resources/templates/list", _LIST, _TEMPLATES, "resources", bare=True),
    *_request(_CLIENT, *_READ, "resources", may_request_input=True),
    *_request(_CLIENT, *_SUBSCRIBE, "resources.subscribe", until=_HANDSHAKE),
    *_request(_CLIENT, *_UNSUBSCRIBE, "resources.subscribe", until=_HANDSHAKE),
    *_request(_CLIENT, *_LISTEN, since=_DISCOVERY),
    *_request(_CLIENT, "prompts/list", _LIST, "ListPromptsResult", "prompts", bare=True),
    *_request(
        _CLIENT,
        "prompts/get",
        "GetPromptRequestParams",
        "GetPromptResult",
        "prompts",
        may_request_input=True,
    ),
    *_request(_CLIENT, "tools/list", _LIST, "ListToolsResult", "tools", bare=True),
    *_request(
        _CLIENT, *_CALL, "tools", as_task="tasks.requests.tools.call", may_request_input=True
    ),
    *_request(
        _CLIENT,
        "logging/setLevel",
        "SetLevelRequestParams",
        "EmptyResult",
        "logging",
        until=_HANDSHAKE,
    ),
    # The first version has no capability for completion.
    *_request(_CLIENT, *_COMPLETE, until=_FIRST),
    *_request(_CLIENT, *_COMPLETE, "completions", since="2025-03-26"),
    *_request(
        _SERVER,
        *_SAMPLE,
        "sampling",
        as_task="tasks.requests.sampling.createMessage",
        until=_HANDSHAKE,
    ),
    *_request(
        _SERVER,
        *_ELICIT,
        "elicitation",
        as_task="tasks.requests.elicitation.create",
        since="2025-06-18",
        until=_HANDSHAKE,
    ),
    *_request(_SERVER, *_ROOTS, "roots", bare=True, until=_HANDSHAKE),
    *_shared_request("ping", "RequestParams", "EmptyResult", bare=True, since=_FIRST),
    *_shared_request("tasks/get", "GetTaskRequestParams", "GetTaskResult", "tasks", since=_TASKS),
    *_shared_request(
        "tasks/result",
        "GetTaskPayloadRequestParams",
        "GetTaskPayloadResult",
        "tasks",
        since=_TASKS,
    ),
    *_shared_request(
        "tasks/cancel", "CancelTaskRequestParams", "CancelTaskResult", "tasks.cancel", since=_TASKS
    ),
    *_shared_request("tasks/list", _LIST, "ListTasksResult", "tasks.list", bare=True, since=_TASKS),
)

_CANCELLED = ("notifications/cancelled", "CancelledNotificationParams")
_PROGRESS = ("notifications/progress", "ProgressNotificationParams")
_STATUS = ("notifications/tasks/status", "TaskStatusNotificationParams", "tasks")

_NOTIFICATIONS = (
    _notification(
        _CLIENT, "notifications/initialized", "NotificationParams", bare=True, until=_HANDSHAKE
    ),
    _notification(
        _CLIENT,
        "notifications/roots/list_changed",
        "NotificationParams",
        "roots.listChanged",
        bare=True,
        until=_HANDSHAKE,
    ),
    _notification(_CLIENT, *_CANCELLED),
    _notification(_SERVER, *_CANCELLED),
    _notification(_CLIENT, *_PROGRESS, until=_HANDSHAKE),
    _notification(_SERVER, *_PROGRESS),
    # The side that works on the task sends it.
    _notification(_CLIENT, *_STATUS, since=_TASKS, until=_TASKS),
    _notification(_SERVER, *_STATUS, since=_TASKS, until=_TASKS),
    *(
        _notification(
            _SERVER,
            f"notifications/{feature}/list_changed",
            "NotificationParams",
            f"{feature}.listChanged",
            bare=True,
        )
        for feature in ("resources", "prompts", "tools")
    ),
    _notification(
        _SERVER,
        "notifications/resources/updated",
        "ResourceUpdatedNotificationParams",
        "resources.subscribe",
    ),
    _notification(_SERVER, "notifications/message", "LoggingMessageNotificationParams", "logging"),
    _notification(
        _SERVER,
        "notifications/elicitation/complete",
        "ElicitationCompleteNotificationParams",
        "elicitation.url",
        side=_CLIENT,
        since=_TASKS,
        until=_TASKS,
    ),
    _notification(
        _SERVER,
        "notifications/subscriptions/acknowledged",
        "SubscriptionsAcknowledgedNotificationParams",
        since=_DISCOVERY,
    ),
)

PLAIN_PROPERTIES: Mapping[str, str] = MappingProxyType(
    {
        "tools/call": "content",
        "sampling/createMessage": "content",
        "elicitation/create": "action",
    }
)
"""Property that a plain result has and a ``CreateTaskResult`` lacks, by method."""

METHODS: tuple[Method, ...] = (*_REQUESTS, *_NOTIFICATIONS)
"""All requests and notifications. A method of both sides has an entry for each side."""

EXTENSION_METHODS: tuple[Method, ...] = tuple(
    Method(
        name,
        sender,
        params,
        result,
        params_required=True,
        extension=TASKS_EXTENSION,
        since=_DISCOVERY,
    )
    for sender, name, params, result in (
        (_CLIENT, "tasks/get", "GetTaskRequestParams", "GetTaskResult"),
        (_CLIENT, "tasks/update", "UpdateTaskRequestParams", "TaskAcknowledgement"),
        (_CLIENT, "tasks/cancel", "CancelTaskRequestParams", "TaskAcknowledgement"),
        (_SERVER, "notifications/tasks", "TaskStatusNotificationParams", None),
    )
)
"""Requests and notifications of the tasks extension."""

INPUT_REQUESTS: Mapping[str, InputRequest] = MappingProxyType(
    {
        name: InputRequest(
            name, params, result, params_required=not bare, needs=Need(_CLIENT, capability)
        )
        for (name, params, result), capability, bare in (
            (_SAMPLE, "sampling", False),
            (_ELICIT, "elicitation", False),
            (_ROOTS, "roots", True),
        )
    }
)
"""Requests in the results of servers since 2026-07-28, by method."""

_ALL_METHODS = (*METHODS, *EXTENSION_METHODS)

_BY_NAME: Mapping[tuple[str, str], tuple[Method, ...]] = MappingProxyType(
    {
        (name, version): tuple(m for m in _ALL_METHODS if m.name == name and m.holds_in(version))
        for name in {method.name for method in _ALL_METHODS}
        for version in VERSIONS
    }
)

_BY_SENDER: Mapping[tuple[str, str, Sender | None], Method] = MappingProxyType(
    {
        (name, version, sender): next(m for m in methods if sender is None or m.sender is sender)
        for (name, version), methods in _BY_NAME.items()
        for sender in (None, *(method.sender for method in methods))
        if methods
    }
)


def find_method(name: str, version: str, sender: Sender | None = None) -> Method | None:
    """Return the method *name* of *sender* in *version*, or None.

    The method may belong to an extension. If *sender* is None, any sender matches.
    """
    return _BY_SENDER.get((name, version, sender))
