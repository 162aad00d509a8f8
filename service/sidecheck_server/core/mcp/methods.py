"""The methods of the protocol, in every version."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.versions import VERSIONS

__all__ = ["INPUT_REQUESTS", "METHODS", "InputRequest", "Method", "Need", "find_method"]


@dataclass(frozen=True, slots=True)
class Need:
    """A capability that must have been declared."""

    #: Who declares it.
    who: Sender
    #: The way to it through the capabilities, with a dot between the names, for example
    #: ``resources.subscribe``. What stands there must be an object or true.
    path: str


@dataclass(frozen=True, slots=True)
class Method:
    """A request or a notification of one sender, in the versions from *since* to *until*."""

    name: str
    sender: Sender
    #: The shape of its params.
    params: str
    #: The shape of its result, or None if it is a notification.
    result: str | None
    #: Whether the params may not be missing.
    params_required: bool = False
    needs: Need | None = None
    #: What is needed to send it as a task (with ``params.task``), or None if it can't be
    #: one. The result of such a request is a ``CreateTaskResult``.
    needs_as_task: Need | None = None
    #: Whether the result may be an ``InputRequiredResult`` instead.
    may_ask: bool = False
    since: str = VERSIONS[0]
    until: str = VERSIONS[-1]

    @property
    def is_request(self) -> bool:
        """Whether it is answered."""
        return self.result is not None

    def holds_in(self, version: str) -> bool:
        """Return whether *version* has it. Versions are dates, and sort as text."""
        return self.since <= version <= self.until


@dataclass(frozen=True, slots=True)
class InputRequest:
    """A request inside an ``InputRequiredResult``, which the client answers in its retry."""

    name: str
    #: The shape of its params.
    params: str
    #: The shape of the answer in ``inputResponses``.
    result: str
    #: Whether the params may not be missing.
    params_required: bool
    #: What the client must have declared.
    needs: Need


_FIRST, _LAST = VERSIONS[0], VERSIONS[-1]
_BEFORE_TASKS, _TASKS, _DISCOVERY = VERSIONS[-3:]
#: The last version with a handshake, and with requests of the server.
_HANDSHAKE = _TASKS

_CLIENT, _SERVER = Sender.CLIENT, Sender.SERVER
_OTHER = MappingProxyType({_CLIENT: _SERVER, _SERVER: _CLIENT})


def _request(  # noqa: PLR0913 - the columns of a table.
    sender: Sender,
    name: str,
    params: str,
    result: str,
    needs: str = "",
    *,
    bare: bool = False,
    as_task: str = "",
    may_ask: bool = False,
    since: str = _FIRST,
    until: str = _LAST,
) -> tuple[Method, ...]:
    """Return a request in each of the spans in which it is the same.

    It needs what its receiver declares. It may come without params if it is *bare*,
    until discovery came: since then, they tell what the handshake told before.
    """
    who = _OTHER[sender]
    spans = [(since, until)]
    for border, last in ((_TASKS, _BEFORE_TASKS), (_DISCOVERY, _TASKS)):
        start, end = spans[-1]
        differs = as_task or (border == _DISCOVERY and (bare or may_ask))
        if differs and start < border <= end:
            spans[-1:] = [(start, last), (border, end)]
    return tuple(
        Method(
            name,
            sender,
            params,
            result,
            params_required=not bare or start >= _DISCOVERY,
            needs=Need(who, needs) if needs else None,
            needs_as_task=Need(who, as_task) if as_task and start == _TASKS else None,
            may_ask=may_ask and start >= _DISCOVERY,
            since=start,
            until=end,
        )
        for start, end in spans
    )


def _by_either(
    name: str, params: str, result: str, needs: str = "", *, bare: bool = False, since: str
) -> tuple[Method, ...]:
    """Return a request that both may send, as long as servers send requests."""
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
    who: Sender | None = None,
    since: str = _FIRST,
    until: str = _LAST,
) -> Method:
    """Return a notification. It needs what its sender declares, or *who*."""
    return Method(
        name,
        sender,
        params,
        None,
        params_required=not bare,
        needs=Need(who or sender, needs) if needs else None,
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
    *_request(_CLIENT, *_READ, "resources", may_ask=True),
    *_request(_CLIENT, *_SUBSCRIBE, "resources.subscribe", until=_HANDSHAKE),
    *_request(_CLIENT, *_UNSUBSCRIBE, "resources.subscribe", until=_HANDSHAKE),
    *_request(_CLIENT, *_LISTEN, since=_DISCOVERY),
    *_request(_CLIENT, "prompts/list", _LIST, "ListPromptsResult", "prompts", bare=True),
    *_request(
        _CLIENT, "prompts/get", "GetPromptRequestParams", "GetPromptResult", "prompts", may_ask=True
    ),
    *_request(_CLIENT, "tools/list", _LIST, "ListToolsResult", "tools", bare=True),
    *_request(_CLIENT, *_CALL, "tools", as_task="tasks.requests.tools.call", may_ask=True),
    *_request(
        _CLIENT,
        "logging/setLevel",
        "SetLevelRequestParams",
        "EmptyResult",
        "logging",
        until=_HANDSHAKE,
    ),
    # The first version has no capability for it.
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
    *_by_either("ping", "RequestParams", "EmptyResult", bare=True, since=_FIRST),
    *_by_either("tasks/get", "GetTaskRequestParams", "GetTaskResult", "tasks", since=_TASKS),
    *_by_either(
        "tasks/result",
        "GetTaskPayloadRequestParams",
        "GetTaskPayloadResult",
        "tasks",
        since=_TASKS,
    ),
    *_by_either(
        "tasks/cancel", "CancelTaskRequestParams", "CancelTaskResult", "tasks.cancel", since=_TASKS
    ),
    *_by_either("tasks/list", _LIST, "ListTasksResult", "tasks.list", bare=True, since=_TASKS),
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
    # Who works on a task tells how it stands.
    _notification(_CLIENT, *_STATUS, since=_TASKS, until=_TASKS),
    _notification(_SERVER, *_STATUS, since=_TASKS, until=_TASKS),
    *(
        _notification(
            _SERVER,
            f"notifications/{what}/list_changed",
            "NotificationParams",
            f"{what}.listChanged",
            bare=True,
        )
        for what in ("resources", "prompts", "tools")
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
        who=_CLIENT,
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

METHODS: tuple[Method, ...] = (*_REQUESTS, *_NOTIFICATIONS)
"""Every request and notification; one that both send stands for each of them."""

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
"""By method, what a server of 2026-07-28 asks the client for in a result."""

_BY_NAME: Mapping[tuple[str, str], tuple[Method, ...]] = MappingProxyType(
    {
        (name, version): tuple(m for m in METHODS if m.name == name and m.holds_in(version))
        for name in {method.name for method in METHODS}
        for version in VERSIONS
    }
)

_SENT: Mapping[tuple[str, str, Sender | None], Method] = MappingProxyType(
    {
        (name, version, sender): next(m for m in found if sender is None or m.sender is sender)
        for (name, version), found in _BY_NAME.items()
        for sender in (None, *(method.sender for method in found))
        if found
    }
)


def find_method(name: str, version: str, sender: Sender | None = None) -> Method | None:
    """Return the method *name* of *version* as *sender* sends it, or None if it doesn't.

    If the sender is not known, it is the first that may send it.
    """
    return _SENT.get((name, version, sender))
