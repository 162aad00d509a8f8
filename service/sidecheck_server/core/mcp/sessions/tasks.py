"""Rules on tasks: of the protocol (2025-11-25), and of the extension (since 2026-07-28)."""

from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.methods import PLAIN_PROPERTIES
from sidecheck_server.core.mcp.rules import tasks, tasks_extension
from sidecheck_server.core.mcp.rules.rule import Fault, Path
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)
from sidecheck_server.core.mcp.sessions.task_states import TaskStates
from sidecheck_server.core.mcp.sessions.task_support import TaskSupport

__all__ = ["Tasks"]

_MAX_REQUESTS = 10_000
_MAX_LISTED = 1000
"""Number of tasks of one result that are checked."""

_EXTENSION = "2026-07-28"
_ON_TASKS = frozenset({"tasks/get", "tasks/result", "tasks/cancel", "tasks/update"})
"""Methods whose params name a task."""

_FOLLOWED = _ON_TASKS | PLAIN_PROPERTIES.keys() | {"tasks/list"}
"""Methods whose results create tasks or tell their states."""

_RELATED = "io.modelcontextprotocol/related-task"
_RESULT: Path = ("result",)
_PARAMS: Path = ("params",)
_STATUS = frozenset({"notifications/tasks/status", "notifications/tasks"})


@dataclass(frozen=True, slots=True)
class _Request:
    """A request without a response."""

    #: Number of its message.
    number: int
    method: str
    #: Task that its params name, or None.
    task: Key | None
    #: Task that it is related to, or None.
    related: Key | None
    #: Token of its progress, or None.
    token: Key | None
    #: Whether it asks for a task (2025-11-25).
    as_task: bool
    #: Whether its receiver declared to support that; None if unknown.
    declared: bool | None
    #: For a call, `taskSupport` of the tool, or "" if unknown.
    support: str


class Tasks:
    """Tasks of both sides, and the requests that create them and ask for them."""

    def __init__(self, memory: SessionMemory, context: Context) -> None:
        self._support = TaskSupport(memory, context)
        self._states = TaskStates(memory)
        #: By the sender of the request, as the next two.
        self._requests: dict[Sender, BoundedStore[_Request]] = _stores(memory)
        #: Tasks by the ids of the requests that created them.
        self._created: dict[Sender, BoundedStore[Key]] = _stores(memory)
        #: Tasks by the tokens of their progress.
        self._tokens: dict[Sender, BoundedStore[Key]] = _stores(memory)
        #: Number of the current message.
        self._number = 0

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store what the current message says of tasks, and check it."""
        self._number += 1
        self._support.observe(current)
        if current.version < tasks.UNASKED.since:
            return
        match current.message.kind:
            case Kind.REQUEST:
                self._observe_request(current, report)
            case Kind.RESULT:
                request = self._requests[current.sender.peer].pop(current.key)
                if request is not None:
                    self._observe_result(current, request, report)
            case Kind.ERROR:
                self._requests[current.sender.peer].pop(current.key)
            case Kind.NOTIFICATION:
                self._observe_notification(current, report)

    def _observe_request(self, current: SessionMessage, report: Reporter) -> None:
        method, params = current.message.method, current.params
        self._created[current.sender].pop(current.key)
        self._requests[current.sender].pop(current.key)
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        related = _id_in(meta.get(_RELATED))
        if method not in _FOLLOWED and related is None:
            return
        request = _Request(
            number=self._number,
            method=method,
            task=_id_in(params) if method in _ON_TASKS else None,
            related=None if method in _ON_TASKS else related,
            token=key_of(meta["progressToken"]) if "progressToken" in meta else None,
            as_task="task" in params and current.version < _EXTENSION,
            declared=self._support.of_requests(method, current.sender),
            support=self._support.of_tool(params.get("name")) if method == "tools/call" else "",
        )
        self._requests[current.sender].put(current.key, request)
        if request.task is not None:
            self._use(current, request.task, report)
        elif method == "tools/call":
            _check_call(request, report)

    def _use(self, current: SessionMessage, key: Key, report: Reporter) -> None:
        """Store that the current request names the task, and check its responses."""
        task = self._states.get(current.sender.peer, key)
        if task is None:
            return
        task.used = True
        responses = current.params.get("inputResponses")
        if not isinstance(responses, dict) or task.inputs_forgotten or not task.method:
            return
        for name in responses:
            if key_of(name) not in task.inputs:
                fault = Fault(
                    ("params", "inputResponses", name), "the task requested no input with this key"
                )
                report(tasks_extension.INPUT_UNKNOWN, fault)

    def _observe_result(self, current: SessionMessage, request: _Request, report: Reporter) -> None:
        result, receiver = current.result, current.sender
        created = _created_task(result, request, current.version)
        if created is not None:
            self._create(current, request, created, report)
        elif request.method in PLAIN_PROPERTIES:
            _check_plain(request, result, report)
        elif request.task is not None:
            self._observe_answer(receiver, result, request, report)
        elif request.method == "tasks/list" and isinstance(result.get("tasks"), list):
            for index, task in enumerate(result["tasks"][:_MAX_LISTED]):
                if isinstance(task, dict):
                    path = ("result", "tasks", index)
                    self._observe_state(receiver, task, path, report, request)
        if request.related is not None and created is None:
            _check_related(result, request.related, report)

    def _create(
        self, current: SessionMessage, request: _Request, path: Path, report: Reporter
    ) -> None:
        """Store the task that a result creates."""
        receiver = current.sender
        state = current.result if path == _RESULT else current.result["task"]
        if not request.as_task:
            message = "expected a plain result, since the request has no task"
            report(tasks.UNASKED, Fault(path, message))
        elif request.declared is False:
            message = f"the {receiver} did not declare {request.method} as a task"
            report(tasks.UNASKED, Fault(path, message))
        elif request.declared and request.support == "forbidden":
            report(tasks.FORBIDDEN_ANSWERED, Fault(path, _NO_SUPPORT))
        key = _id_in(state)
        if key is None:
            return
        if not self._states.create(receiver, key, request.method):
            fault = Fault((*path, "taskId"), "another request created a task with this id")
            report(tasks.ID_REUSED, fault)
            report(tasks_extension.ID_REUSED, fault)
            return
        self._created[receiver.peer].put(current.key, key)
        if request.token is not None:
            self._tokens[receiver.peer].put(request.token, key)
        self._observe_state(receiver, state, path, report, request)

    def _observe_answer(
        self, receiver: Sender, result: dict[str, Any], request: _Request, report: Reporter
    ) -> None:
        """Check the result of a request about one task."""
        key = request.task
        assert key is not None
        if request.method == "tasks/result":
            self._observe_payload(receiver, result, key, report)
            return
        if "taskId" not in result:
            return  # An acknowledgement of the extension; the schema reports others.
        if _id_in(result) != key:
            fault = Fault(("result", "taskId"), "expected the taskId of the request")
            report(tasks.OTHER, fault)
            return
        task = self._states.get(receiver, key)
        ended = None if task is None else task.ended
        if request.method == "tasks/cancel" and ended is not None and ended < request.number:
            message = "the task had ended before the cancellation was requested"
            report(tasks.CANCEL_ACCEPTED, Fault(_RESULT, message))
            return
        self._observe_state(receiver, result, _RESULT, report, request)

    def _observe_payload(
        self, receiver: Sender, result: dict[str, Any], key: Key, report: Reporter
    ) -> None:
        """Check a result of tasks/result: the task has ended, and this is its outcome."""
        meta = result.get("_meta")
        named = _id_in(meta.get(_RELATED)) if isinstance(meta, dict) else None
        if named is not None and named != key:
            path = ("result", "_meta", _RELATED, "taskId")
            report(tasks.RESULT_OTHER, Fault(path, "expected the taskId of the request"))
        self._states.end(receiver, key, self._number)
        task = self._states.get(receiver, key)
        name = PLAIN_PROPERTIES.get(task.method) if task is not None else None
        if task is not None and name is not None and name not in result:
            message = f'missing required property "{name}" of a result of {task.method}'
            report(tasks.RESULT_OTHER_TYPE, Fault(_RESULT, message, name))

    def _observe_state(
        self,
        receiver: Sender,
        state: dict[str, Any],
        path: Path,
        report: Reporter,
        request: _Request | None,
    ) -> None:
        asked = None if request is None else request.number
        self._states.observe(receiver, state, self._number, path, report, asked=asked)

    def _observe_notification(self, current: SessionMessage, report: Reporter) -> None:
        method, params, sender = current.message.method, current.params, current.sender
        if method in _STATUS:
            self._observe_state(sender, params, _PARAMS, report, None)
        elif method == "notifications/cancelled":
            self._check_cancelled(current, report)
        elif method == "notifications/progress" and "progressToken" in params:
            key = self._tokens[sender.peer].get(key_of(params["progressToken"]))
            task = None if key is None else self._states.get(sender, key)
            if task is not None and task.ended is not None:
                ended = f"is {task.status}" if task.status else "has ended"
                fault = Fault(("params", "progressToken"), f"the task of this token {ended}")
                report(tasks.PROGRESS_AFTER_END, fault)

    def _check_cancelled(self, current: SessionMessage, report: Reporter) -> None:
        id_ = key_of(current.params.get("requestId"))
        request = self._requests[current.sender].get(id_)
        key = self._created[current.sender].get(id_)
        if key is not None:
            task = self._states.get(current.sender.peer, key)
            # In the extension the client learns from the response that there is a task, and
            # may have sent the notification before.
            knew = current.version < _EXTENSION or (task is not None and task.used)
        else:
            knew = (
                request is not None
                and request.as_task
                and request.declared is True
                and request.support != "forbidden"
            )
        if knew:
            message = "a task is cancelled with tasks/cancel"
            report(tasks.CANCELLED_BY_NOTIFICATION, Fault(("params", "requestId"), message))


_NO_SUPPORT = "the tool was listed without support of tasks"


def _check_call(request: _Request, report: Reporter) -> None:
    """Check that a call asks for a task as the listed tool demands it."""
    if request.as_task:
        if request.support == "forbidden" and request.declared is not False:
            report(tasks.FORBIDDEN, Fault(("params", "task"), _NO_SUPPORT))
    elif request.support == "required" and request.declared:
        message = 'missing the property "task": the tool was listed with taskSupport "required"'
        report(tasks.REQUIRED, Fault(_PARAMS, message, "task"))


def _check_plain(request: _Request, result: dict[str, Any], report: Reporter) -> None:
    """Check that a request may have a plain result."""
    if not request.declared:
        return  # Whether it asks for a task is ignored.
    if not request.as_task:
        if request.support == "required":
            message = "expected the error -32601: the call of this tool must be a task"
            report(tasks.REQUIRED_ANSWERED, Fault(_RESULT, message))
    elif request.support == "forbidden":
        report(tasks.FORBIDDEN_ANSWERED, Fault(_RESULT, _NO_SUPPORT))
    elif request.method != "tools/call" or request.support or result.get("isError") is not True:
        # The failed call of an unknown tool may be one that was not accepted.
        message = "expected a CreateTaskResult for a request as a task"
        report(tasks.NOT_CREATED, Fault(_RESULT, message))


def _check_related(result: dict[str, Any], related: Key, report: Reporter) -> None:
    meta = result.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    if _RELATED not in meta:
        message = f"missing {_RELATED} in _meta, which the request has"
        report(tasks.RELATED_MISSING, Fault(_RESULT, message, _RELATED))
    elif _id_in(meta[_RELATED]) not in {None, related}:
        path = ("result", "_meta", _RELATED, "taskId")
        report(tasks.RELATED_MISSING, Fault(path, "expected the taskId in the request"))


def _created_task(result: dict[str, Any], request: _Request, version: str) -> Path | None:
    """Return the path of the task that *result* creates, or None if it is no such result."""
    if request.method not in PLAIN_PROPERTIES:
        return None
    if version >= _EXTENSION:
        return _RESULT if result.get("resultType") == "task" else None
    # A plain result may have any further properties.
    if isinstance(result.get("task"), dict) and (
        request.as_task or PLAIN_PROPERTIES[request.method] not in result
    ):
        return (*_RESULT, "task")
    return None


def _id_in(value: Any) -> Key | None:
    """Return the key of the taskId in *value*, or None."""
    id_ = value.get("taskId") if isinstance(value, dict) else None
    return key_of(id_) if isinstance(id_, str) else None


def _stores(memory: SessionMemory) -> dict[Sender, BoundedStore[Any]]:
    return {sender: BoundedStore(_MAX_REQUESTS, memory) for sender in Sender}
