"""Rules on tasks of the protocol (2025-11-25) and the extension (2026-07-28).

In 2025-11-25, capabilities and listed tools declare whether a request may be a task.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Any

from sidecheck_server.core.mcp.context import FIRST_STATELESS, Context, Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.metadata_keys import (
    RELATED_TASK_KEY,
    SUBSCRIPTION_ID_KEY,
    read_metadata,
)
from sidecheck_server.core.mcp.methods import METHODS, PLAIN_PROPERTIES, TASKS_EXTENSION
from sidecheck_server.core.mcp.rules import tasks
from sidecheck_server.core.mcp.rules.capabilities import (
    declares_extension,
    is_declared,
    read_client_capabilities,
)
from sidecheck_server.core.mcp.rules.rule import Fault, Path
from sidecheck_server.core.mcp.sessions.input_requests import check_response
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)
from sidecheck_server.core.mcp.sessions.task_states import TaskStates

__all__ = ["Tasks"]

_MAX_TOOLS = 100_000
_MAX_LISTED_TOOLS = 5000
"""Number of tools of one result that are stored."""

_SUPPORT = ("required", "optional", "forbidden")

_NEEDED_CAPABILITIES = {
    (method.name, method.sender): method.needs_as_task.path
    for method in METHODS
    if method.needs_as_task
}
"""Capability that a receiver needs for a request as a task, by method and sender."""

_DECLARING_METHODS = frozenset({"initialize", "tools/list", "notifications/tools/list_changed"})
"""Methods whose messages declare support of tasks."""


class _TaskSupport:
    """Support of tasks that each side and its tools declare."""

    def __init__(self, memory: SessionMemory, context: Context) -> None:
        self._declared = {
            Sender.CLIENT: _select_paths(context.client_capabilities),
            Sender.SERVER: _select_paths(context.server_capabilities),
        }
        #: `taskSupport` of the listed tools.
        self._tools: BoundedStore[str] = BoundedStore(_MAX_TOOLS, memory)

    def observe(self, current: SessionMessage) -> None:
        """Store the capabilities or the tools that the current message declares."""
        if current.message.method not in _DECLARING_METHODS:
            return
        match (current.message.method, current.message.kind):
            case ("initialize", Kind.REQUEST):
                self._declared[Sender.CLIENT] = _select_paths(current.params.get("capabilities"))
            case ("initialize", Kind.RESULT):
                self._declared[Sender.SERVER] = _select_paths(current.result.get("capabilities"))
            case ("tools/list", Kind.RESULT):
                self._store(current.result.get("tools"))
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                self._tools.clear()

    def allows_tasks(self, method: str, requester: Sender) -> bool | None:
        """Return whether requests of *requester* may be tasks, or None if unknown."""
        declared = self._declared[requester.peer]
        path = _NEEDED_CAPABILITIES.get((method, requester))
        return False if path is None else None if declared is None else path in declared

    def get_tool_support(self, name: Any) -> str:
        """Return the `taskSupport` of the tool *name*, or "" if unknown."""
        return self._tools.get(key_of(name)) or ""

    def _store(self, tools: Any) -> None:
        names: set[str] = set()
        for tool in tools[:_MAX_LISTED_TOOLS] if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if not isinstance(name, str):
                continue
            execution = tool.get("execution", {})
            # "forbidden" is the default of the specification.
            support = (
                execution.get("taskSupport", "forbidden") if isinstance(execution, dict) else None
            )
            # A call by a name that two tools have may mean either tool.
            is_known = isinstance(support, str) and support in _SUPPORT and name not in names
            names.add(name)
            if is_known and isinstance(support, str):
                self._tools.put(key_of(name), support)
            else:
                self._tools.pop(key_of(name))


def _select_paths(capabilities: Any) -> frozenset[str] | None:
    """Return the paths of the declared capabilities that tasks need; None if unknown."""
    if not isinstance(capabilities, dict):
        return None
    return frozenset(
        path for path in _NEEDED_CAPABILITIES.values() if is_declared(capabilities, path)
    )


_NO_SUPPORT = "the listed tool does not support tasks"

_PARAMS: Path = ("params",)
_RESULT: Path = ("result",)


@dataclass(slots=True)
class _TaskRequest:
    """A request without a response.

    Not frozen, since a frozen dataclass takes far longer to create.
    """

    #: Number of its message.
    number: int
    method: str
    #: Key of the task in its params, or None.
    task: Key | None
    #: Key of the related task in its `_meta`, or None.
    related: Key | None
    #: Key of its progress token, or None.
    token: Key | None
    #: Whether it asks for a task (2025-11-25).
    as_task: bool
    #: Whether its receiver declared support of tasks for this method; None if unknown.
    is_declared: bool | None
    #: For a call, `taskSupport` of the tool, or "" if unknown.
    support: str


def _check_call(request: _TaskRequest, report: Reporter) -> None:
    """Check a call against the `taskSupport` of the listed tool."""
    if request.as_task:
        if request.support == "forbidden" and request.is_declared is not False:
            report(tasks.FORBIDDEN, Fault(("params", "task"), _NO_SUPPORT))
    elif request.support == "required" and request.is_declared:
        message = 'missing the property "task": the tool was listed with taskSupport "required"'
        report(tasks.REQUIRED, Fault(_PARAMS, message, "task"))


def _check_plain_result(request: _TaskRequest, result: dict[str, Any], report: Reporter) -> None:
    """Check that a request may have a plain result."""
    if not request.is_declared:
        return  # Receivers without support ignore "task".
    if not request.as_task:
        if request.support == "required":
            message = "expected the error -32601: the call of this tool must be a task"
            report(tasks.REQUIRED_ANSWERED, Fault(_RESULT, message))
    elif request.support == "forbidden":
        report(tasks.FORBIDDEN_ANSWERED, Fault(_RESULT, _NO_SUPPORT))
    elif request.method != "tools/call" or request.support or result.get("isError") is not True:
        # The server may have rejected the call of an unknown tool before creating a task.
        message = "expected a CreateTaskResult for a request as a task"
        report(tasks.NOT_CREATED, Fault(_RESULT, message))


def _check_related(result: dict[str, Any], related: Key, report: Reporter) -> None:
    """Check that *result* has the related task of its request."""
    meta = read_metadata(result)
    if RELATED_TASK_KEY not in meta:
        message = f"missing {RELATED_TASK_KEY} in _meta, which the request has"
        report(tasks.RELATED_MISMATCH, Fault(_RESULT, message, RELATED_TASK_KEY))
    elif _read_task_key(meta[RELATED_TASK_KEY]) not in {None, related}:
        path = ("result", "_meta", RELATED_TASK_KEY, "taskId")
        report(tasks.RELATED_MISMATCH, Fault(path, "expected the taskId in the request"))


def _find_created_task(result: dict[str, Any], request: _TaskRequest, version: str) -> Path | None:
    """Return the path of the task that *result* creates, or None for other results."""
    if request.method not in PLAIN_PROPERTIES:
        return None
    if version >= FIRST_STATELESS:
        return _RESULT if result.get("resultType") == "task" else None
    # A plain result may have additional properties, even one named "task".
    if isinstance(result.get("task"), dict) and (
        request.as_task or PLAIN_PROPERTIES[request.method] not in result
    ):
        return (*_RESULT, "task")
    return None


def _read_task_key(value: Any) -> Key | None:
    """Return the key of the taskId in *value*, or None."""
    id_ = value.get("taskId") if isinstance(value, dict) else None
    return key_of(id_) if isinstance(id_, str) else None


_MAX_REQUESTS = 10_000
_MAX_METHOD = 128
"""Length to which the names of methods are shortened."""

_MAX_RESPONSES = 1000
"""Number of responses of one message that are compared with the inputs of its task."""

_MAX_LISTED = 1000
"""Number of tasks of one result that are checked."""

_TASK_ID_METHODS = frozenset({"tasks/get", "tasks/result", "tasks/cancel", "tasks/update"})
"""Methods whose params have a `taskId`."""

_TASK_RESULT_METHODS = _TASK_ID_METHODS | PLAIN_PROPERTIES.keys() | {"tasks/list"}
"""Methods whose results create tasks or report their states."""

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_STATUS = frozenset({"notifications/tasks/status", "notifications/tasks"})


class Tasks:
    """Tasks of both sides, and the requests that create, poll and cancel them."""

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory, context: Context) -> None:
        self._support = _TaskSupport(memory, context)
        self._states = TaskStates(memory)
        #: Requests without a response, by sender and id.
        self._requests: dict[Sender, BoundedStore[_TaskRequest]] = _create_stores(memory)
        #: Tasks, by sender and id of the request that created them.
        self._created: dict[Sender, BoundedStore[Key]] = _create_stores(memory)
        #: Tasks, by sender and progress token of the request that created them.
        self._tokens: dict[Sender, BoundedStore[Key]] = _create_stores(memory)
        #: subscriptions/listen requests that do not declare the extension.
        self._undeclared: BoundedStore[bool] = BoundedStore(_MAX_REQUESTS, memory)
        #: Whether an unread message may have requested inputs.
        self._misses_inputs = False
        #: Number of the current message.
        self._number = 0

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Check the current message against the states of tasks, and update these."""
        self._number += 1
        self._support.observe(current)
        if current.version < tasks.UNASKED.since:
            return
        match current.message.kind:
            case Kind.REQUEST:
                self._observe_request(current, report)
            case Kind.RESULT:
                request = self._requests[current.sender.peer].pop(current.key)
                if current.has_long_integers:
                    self._misses_inputs = True
                elif request is not None:
                    self._observe_result(current, request, report)
            case Kind.ERROR:
                self._requests[current.sender.peer].pop(current.key)
            case Kind.NOTIFICATION if current.has_long_integers:
                self._misses_inputs = True
            case Kind.NOTIFICATION:
                self._observe_notification(current, report)

    def _observe_request(self, current: SessionMessage, report: Reporter) -> None:
        method, params = current.message.method, current.params
        self._created[current.sender].pop(current.key)
        self._requests[current.sender].pop(current.key)
        meta = read_metadata(params)
        token = key_of(meta["progressToken"]) if "progressToken" in meta else None
        if token is not None:
            self._tokens[current.sender].pop(token)
        if method == "subscriptions/listen":
            self._observe_listen(current)
        related = _read_task_key(meta.get(RELATED_TASK_KEY))
        if method not in _TASK_RESULT_METHODS and related is None:
            return
        request = _TaskRequest(
            number=self._number,
            method=method[:_MAX_METHOD],
            task=_read_task_key(params) if method in _TASK_ID_METHODS else None,
            related=None if method in _TASK_ID_METHODS else related,
            token=token,
            as_task="task" in params and current.version < FIRST_STATELESS,
            is_declared=self._support.allows_tasks(method, current.sender),
            support=(
                self._support.get_tool_support(params.get("name")) if method == "tools/call" else ""
            ),
        )
        self._requests[current.sender].put(current.key, request)
        if request.task is not None:
            self._use(current, request.task, report)
        elif method == "tools/call":
            _check_call(request, report)

    def _use(self, current: SessionMessage, key: Key, report: Reporter) -> None:
        """Store that the current request uses the task, and check its responses to inputs."""
        task = self._states.get(current.sender.peer, key)
        if task is None:
            return
        task.is_used = True
        responses = current.params.get("inputResponses")
        if not isinstance(responses, dict):
            return
        knows_inputs = bool(task.method) and not (self._misses_inputs or task.misses_inputs)
        for name in islice(responses, _MAX_RESPONSES):
            stored, response = task.inputs.get(key_of(name)), responses[name]
            if stored is not None and isinstance(response, dict):
                check_response(name, response, stored[1], report)
            elif stored is None and knows_inputs:
                fault = Fault(
                    ("params", "inputResponses", name), "the task requested no input with this key"
                )
                report(tasks.INPUT_UNKNOWN, fault)

    def _observe_result(
        self, current: SessionMessage, request: _TaskRequest, report: Reporter
    ) -> None:
        result, receiver = current.result, current.sender
        path = _find_created_task(result, request, current.version)
        if path is not None:
            self._create(current, request, path, report)
        elif request.method in PLAIN_PROPERTIES:
            _check_plain_result(request, result, report)
        elif request.method in _TASK_ID_METHODS:
            key = request.task or _read_task_key(result)
            if key is not None:
                self._observe_answer(current, request, key, report)
        elif request.method == "tasks/list" and isinstance(result.get("tasks"), list):
            for index, task in enumerate(result["tasks"][:_MAX_LISTED]):
                if isinstance(task, dict):
                    task_path = ("result", "tasks", index)
                    self._observe_state(receiver, task, task_path, report, request)
        if request.related is not None and path is None:
            _check_related(result, request.related, report)

    def _create(
        self, current: SessionMessage, request: _TaskRequest, path: Path, report: Reporter
    ) -> None:
        """Store the task that a result creates."""
        receiver = current.sender
        state = current.result if path == _RESULT else current.result["task"]
        if not request.as_task:
            message = 'expected a plain result, since the request has no "task"'
            report(tasks.UNASKED, Fault(path, message))
        elif request.is_declared is False:
            message = f"the {receiver} did not declare {request.method} as a task"
            report(tasks.UNASKED, Fault(path, message))
        elif request.is_declared and request.support == "forbidden":
            report(tasks.FORBIDDEN_ANSWERED, Fault(path, _NO_SUPPORT))
        key = _read_task_key(state)
        if key is None:
            return
        if not self._states.create(receiver, key, request.method):
            fault = Fault((*path, "taskId"), "another request created a task with this id")
            report(tasks.ID_REUSED, fault)
            report(tasks.EXTENSION_ID_REUSED, fault)
            return
        self._created[receiver.peer].put(current.key, key)
        if request.token is not None:
            self._tokens[receiver.peer].put(request.token, key)
        # In 2025-11-25 another rule reports a first status other than "working".
        if current.version >= FIRST_STATELESS or state.get("status") == "working":
            self._observe_state(receiver, state, path, report, request)

    def _observe_answer(
        self, current: SessionMessage, request: _TaskRequest, key: Key, report: Reporter
    ) -> None:
        """Check the result of a request with the `taskId` *key*."""
        result, receiver = current.result, current.sender
        if request.method == "tasks/result":
            self._observe_payload(receiver, result, key, report)
            return
        if current.version >= FIRST_STATELESS and request.method != "tasks/get":
            return  # An acknowledgement, without a state.
        if _read_task_key(result) not in {None, key}:
            fault = Fault(("result", "taskId"), "expected the taskId of the request")
            report(tasks.ID_MISMATCH, fault)
            self._states.mark_inputs_missed(receiver, key)
            return
        task = self._states.get(receiver, key)
        end = None if task is None else task.end_number
        # Decision 0054: only a cancellation requested after the end proves a fault.
        if request.method == "tasks/cancel" and end is not None and end < request.number:
            message = "the task had ended before the cancellation was requested"
            report(tasks.CANCEL_ACCEPTED, Fault(_RESULT, message))
            return
        self._observe_state(receiver, result, _RESULT, report, request)

    def _observe_payload(
        self, receiver: Sender, result: dict[str, Any], key: Key, report: Reporter
    ) -> None:
        """Check a result of tasks/result, the outcome of a task that has ended."""
        related = _read_task_key(read_metadata(result).get(RELATED_TASK_KEY))
        if related is not None and related != key:
            path = ("result", "_meta", RELATED_TASK_KEY, "taskId")
            report(tasks.RESULT_ID_MISMATCH, Fault(path, "expected the taskId of the request"))
            return
        self._states.end(receiver, key, self._number)
        task = self._states.get(receiver, key)
        name = PLAIN_PROPERTIES.get(task.method) if task is not None else None
        if task is not None and name is not None and name not in result:
            message = f'missing required property "{name}" of a result of {task.method}'
            report(tasks.RESULT_TYPE_MISMATCH, Fault(_RESULT, message, name))

    def _observe_state(
        self,
        receiver: Sender,
        state: dict[str, Any],
        path: Path,
        report: Reporter,
        request: _TaskRequest | None,
    ) -> None:
        request_number = None if request is None else request.number
        self._states.observe(
            receiver, state, self._number, path, report, request_number=request_number
        )

    def _observe_notification(self, current: SessionMessage, report: Reporter) -> None:
        method, params, sender = current.message.method, current.params, current.sender
        if method == _ACKNOWLEDGED:
            self._check_acknowledged(current, report)
        elif method in _STATUS:
            self._observe_state(sender, params, _PARAMS, report, None)
        elif method == "notifications/cancelled":
            self._check_cancelled(current, report)
        elif method == "notifications/progress" and "progressToken" in params:
            key = self._tokens[sender.peer].get(key_of(params["progressToken"]))
            task = None if key is None else self._states.get(sender, key)
            if task is not None and task.end_number is not None:
                end = f"is {task.status}" if task.status else "has ended"
                fault = Fault(("params", "progressToken"), f"the task of this token {end}")
                report(tasks.PROGRESS_AFTER_END, fault)

    def _observe_listen(self, current: SessionMessage) -> None:
        """Store the subscription if it does not declare the extension of tasks."""
        declared = read_client_capabilities(current.params)
        self._undeclared.pop(current.key)
        if declared is not None and not declares_extension(declared, TASKS_EXTENSION):
            self._undeclared.put(current.key, value=True)

    def _check_acknowledged(self, current: SessionMessage, report: Reporter) -> None:
        """Check that the server includes tasks only if the client declared the extension."""
        accepted = current.params.get("notifications")
        id_ = read_metadata(current.params).get(SUBSCRIPTION_ID_KEY)
        includes = isinstance(accepted, dict) and bool(accepted.get("taskIds"))
        if includes and key_of(id_) in self._undeclared:
            message = f"the client did not declare {TASKS_EXTENSION} in the request"
            fault = Fault(("params", "notifications", "taskIds"), message)
            report(tasks.CLIENT_UNDECLARED, fault)

    def _check_cancelled(self, current: SessionMessage, report: Reporter) -> None:
        id_ = key_of(current.params.get("requestId"))
        request = self._requests[current.sender].get(id_)
        key = self._created[current.sender].get(id_)
        if key is not None:
            task = self._states.get(current.sender.peer, key)
            # In the extension, the client may have sent the notification before the response
            # that created the task arrived.
            requester_knows_task = current.version < FIRST_STATELESS or (
                task is not None and task.is_used
            )
        else:
            requester_knows_task = (
                request is not None
                and request.as_task
                and request.is_declared is True
                and request.support != "forbidden"
            )
        if requester_knows_task:
            message = "a task is cancelled with tasks/cancel"
            report(tasks.CANCELLED_BY_NOTIFICATION, Fault(("params", "requestId"), message))


def _create_stores(memory: SessionMemory) -> dict[Sender, BoundedStore[Any]]:
    return {sender: BoundedStore(_MAX_REQUESTS, memory) for sender in Sender}
