"""States of the tasks of a session, as its messages report them."""

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.rules import tasks
from sidecheck_server.core.mcp.rules.rule import Fault, Path
from sidecheck_server.core.mcp.sessions.input_requests import Input, read_input
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    digest_of,
    key_of,
)

__all__ = ["Task", "TaskStates"]

_MAX_BYTES = 2 << 20
"""Total weight of the tasks of each side."""

_TASK_BYTES = 512
"""Weight of a task without its inputs."""

_INPUT_BYTES = 400
"""Weight of an input: its digest, and its key, with characters of up to four bytes."""

_MAX_INPUTS = 1000
"""Number of inputs of a task that are stored, and of one message that are read."""

_MAX_TIMESTAMP = 64
"""Longest timestamp that is stored, in characters; those of RFC 3339 are shorter."""

_OPEN = frozenset({"working", "input_required"})
_TERMINAL = frozenset({"completed", "failed", "cancelled"})


@dataclass(slots=True)
class Task:
    """A task that one side works on."""

    #: Method of the request that created it, or "" if no message of the session did.
    method: str = ""
    #: Terminal status that a message reported, or "".
    status: str = ""
    #: Number of the first message that proves that the task has ended, or None.
    end_number: int | None = None
    #: `lastUpdatedAt` in that message, or "".
    updated_at: str = ""
    #: Whether the requester has used the id of the task, so it knows the task.
    is_used: bool = False
    #: Digest of each requested input, and the input, by key of its name.
    inputs: dict[Key, tuple[bytes, Input]] = field(default_factory=dict)
    #: Whether the task may have requested inputs that are not stored.
    misses_inputs: bool = False


class TaskStates:
    """Tasks by id, for each side that works on them."""

    def __init__(self, memory: SessionMemory) -> None:
        self._tasks: dict[Sender, BoundedStore[Task]] = {
            receiver: BoundedStore(_MAX_BYTES, memory) for receiver in Sender
        }

    def get(self, receiver: Sender, key: Key) -> Task | None:
        """Return the task of *receiver* under *key*, or None if no message reported it."""
        return self._tasks[receiver].get(key)

    def create(self, receiver: Sender, key: Key, method: str) -> bool:
        """Store that a request of *method* created the task; False if an earlier one did."""
        task = self._get_or_add(receiver, key)
        if task.method:
            return False
        task.method = method
        return True

    def end(self, receiver: Sender, key: Key, number: int) -> None:
        """Store that message *number* proves that the task has ended, in any status."""
        task = self._get_or_add(receiver, key)
        if task.end_number is None:
            task.end_number = number

    def observe(
        self,
        receiver: Sender,
        state: dict[str, Any],
        number: int,
        path: Path,
        report: Reporter,
        *,
        request_number: int | None,
    ) -> None:
        """Check the *state* of a task at *path* of message *number*, and store it.

        *request_number* is the number of the request of a result, None for a notification.
        Messages may overtake each other, so an open state contradicts a terminal one only if
        it was requested, or last updated, after the terminal one.
        """
        id_, status = state.get("taskId"), state.get("status")
        if not isinstance(id_, str) or not isinstance(status, str):
            return
        task = self._get_or_add(receiver, key_of(id_))
        updated_at = state.get("lastUpdatedAt")
        if not isinstance(updated_at, str) or len(updated_at) > _MAX_TIMESTAMP:
            updated_at = ""
        if status in _OPEN and task.end_number is not None:
            # Decision 0054: order of arrival alone proves nothing.
            is_stale = (
                _is_before(updated_at, task.updated_at)
                if request_number is None
                else request_number < task.end_number
            )
            if not is_stale:
                end = f"was {task.status}" if task.status else "had ended"
                message = f'the task {end}, found "{status}"'
                _report_terminal_left(Fault((*path, "status"), message), report)
                # Report it once; check later states against the open one.
                task.status, task.updated_at, task.end_number = "", "", None
        elif status in _TERMINAL:
            if task.status not in ("", status):
                message = f'the task was {task.status}, found "{status}"'
                fault = Fault((*path, "status"), message)
                _report_terminal_left(fault, report, has_failed=status == "failed")
                task.status, task.updated_at = status, updated_at
            elif not task.status:
                task.status, task.updated_at = status, updated_at
                task.end_number = number if task.end_number is None else task.end_number
        requests, is_required = state.get("inputRequests"), status == "input_required"
        self._observe_inputs(
            receiver, key_of(id_), task, requests, path, report, is_required=is_required
        )

    def mark_inputs_missed(self, receiver: Sender, key: Key) -> None:
        """Store that the task may have requested inputs that are not stored."""
        task = self._tasks[receiver].get(key)
        if task is not None:
            task.misses_inputs = True

    def _get_or_add(self, receiver: Sender, key: Key) -> Task:
        task = self._tasks[receiver].get(key)
        if task is None:
            task = Task()
            self._tasks[receiver].put(key, task, _TASK_BYTES)
        return task

    def _observe_inputs(
        self,
        receiver: Sender,
        key: Key,
        task: Task,
        requests: Any,
        path: Path,
        report: Reporter,
        *,
        is_required: bool,
    ) -> None:
        if not isinstance(requests, dict):
            task.misses_inputs |= is_required
            return
        previous_count = len(task.inputs)
        task.misses_inputs |= len(requests) > _MAX_INPUTS
        for name, request in islice(requests.items(), _MAX_INPUTS):
            digest = _digest_request(request)
            stored = task.inputs.get(key_of(name))
            if stored is not None and stored[0] != digest:
                message = "an earlier request for input has this key"
                report(tasks.INPUT_KEY_REUSED, Fault((*path, "inputRequests", name), message))
            elif stored is None and len(task.inputs) < _MAX_INPUTS:
                task.inputs[key_of(name)] = (digest, read_input(request))
            elif stored is None:
                task.misses_inputs = True
        if len(task.inputs) > previous_count:
            texts = sum(len(input_.params) for _, input_ in task.inputs.values())
            weight = _TASK_BYTES + _INPUT_BYTES * len(task.inputs) + texts
            self._tasks[receiver].put(key, task, weight)


def _report_terminal_left(fault: Fault, report: Reporter, *, has_failed: bool = False) -> None:
    """Report that a task left its terminal status."""
    report(tasks.TERMINAL_LEFT, fault)
    # In the extension, a server may mark any task as failed once its ttlMs is over.
    if not has_failed:
        report(tasks.EXTENSION_TERMINAL_LEFT, fault)


def _is_before(first: str, second: str) -> bool:
    """Return whether timestamp *first* is before *second*, or not comparable with it.

    Texts of RFC 3339 sort by time if they have the same length, precision and time zone: the
    same character after the seconds and at the end.
    """
    if len(first) != len(second) or first[19:20] != second[19:20] or first[-1:] != second[-1:]:
        return True
    return first < second


def _digest_request(request: Any) -> bytes:
    """Return a digest of a request for input, without its `_meta`."""
    params = request.get("params") if isinstance(request, dict) else None
    if isinstance(params, dict):
        params = {name: value for name, value in params.items() if name != "_meta"}
    method = request.get("method") if isinstance(request, dict) else None
    return digest_of([method, params])
