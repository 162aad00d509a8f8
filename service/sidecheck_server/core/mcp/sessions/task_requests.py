"""Requests that may create tasks, or are about tasks, and what may answer them."""

from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.mcp.context import FIRST_STATELESS
from sidecheck_server.core.mcp.metadata_keys import RELATED_TASK_KEY, read_metadata
from sidecheck_server.core.mcp.methods import PLAIN_PROPERTIES
from sidecheck_server.core.mcp.rules import tasks
from sidecheck_server.core.mcp.rules.rule import Fault, Path
from sidecheck_server.core.mcp.sessions.memory import Key, Reporter, key_of

__all__ = [
    "NO_SUPPORT",
    "TaskRequest",
    "check_call",
    "check_plain_result",
    "check_related",
    "created_task",
    "task_key",
]

NO_SUPPORT = "the tool was listed without support of tasks"

_PARAMS: Path = ("params",)
_RESULT: Path = ("result",)


@dataclass(slots=True)
class TaskRequest:
    """A request without a response. Not frozen, since a frozen one takes far longer to create."""

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


def check_call(request: TaskRequest, report: Reporter) -> None:
    """Check that a call asks for a task as the listed tool demands it."""
    if request.as_task:
        if request.support == "forbidden" and request.declared is not False:
            report(tasks.FORBIDDEN, Fault(("params", "task"), NO_SUPPORT))
    elif request.support == "required" and request.declared:
        message = 'missing the property "task": the tool was listed with taskSupport "required"'
        report(tasks.REQUIRED, Fault(_PARAMS, message, "task"))


def check_plain_result(request: TaskRequest, result: dict[str, Any], report: Reporter) -> None:
    """Check that a request may have a plain result."""
    if not request.declared:
        return  # Whether it asks for a task is ignored.
    if not request.as_task:
        if request.support == "required":
            message = "expected the error -32601: the call of this tool must be a task"
            report(tasks.REQUIRED_ANSWERED, Fault(_RESULT, message))
    elif request.support == "forbidden":
        report(tasks.FORBIDDEN_ANSWERED, Fault(_RESULT, NO_SUPPORT))
    elif request.method != "tools/call" or request.support or result.get("isError") is not True:
        # The failed call of an unknown tool may be one that was not accepted.
        message = "expected a CreateTaskResult for a request as a task"
        report(tasks.NOT_CREATED, Fault(_RESULT, message))


def check_related(result: dict[str, Any], related: Key, report: Reporter) -> None:
    """Check that *result* names the task that its request is related to."""
    meta = read_metadata(result)
    if RELATED_TASK_KEY not in meta:
        message = f"missing {RELATED_TASK_KEY} in _meta, which the request has"
        report(tasks.RELATED_MISSING, Fault(_RESULT, message, RELATED_TASK_KEY))
    elif task_key(meta[RELATED_TASK_KEY]) not in {None, related}:
        path = ("result", "_meta", RELATED_TASK_KEY, "taskId")
        report(tasks.RELATED_MISSING, Fault(path, "expected the taskId in the request"))


def created_task(result: dict[str, Any], request: TaskRequest, version: str) -> Path | None:
    """Return the path of the task that *result* creates, or None if it is no such result."""
    if request.method not in PLAIN_PROPERTIES:
        return None
    if version >= FIRST_STATELESS:
        return _RESULT if result.get("resultType") == "task" else None
    # A plain result may have any further properties.
    if isinstance(result.get("task"), dict) and (
        request.as_task or PLAIN_PROPERTIES[request.method] not in result
    ):
        return (*_RESULT, "task")
    return None


def task_key(value: Any) -> Key | None:
    """Return the key of the taskId in *value*, or None."""
    id_ = value.get("taskId") if isinstance(value, dict) else None
    return key_of(id_) if isinstance(id_, str) else None
