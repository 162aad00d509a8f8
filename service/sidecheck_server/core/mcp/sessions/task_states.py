"""Tasks of a session, with what their messages said of their states."""

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
"""Weight of a task beside its inputs."""

_INPUT_BYTES = 400
"""Weight of an input: its key, of characters of four bytes at worst, and its digest."""

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
    #: Terminal status that was seen, or "".
    status: str = ""
    #: Number of the message that first showed the task to have ended, or None.
    ended: int | None = None
    #: `lastUpdatedAt` in that message, or "".
    updated: str = ""
    #: Whether the other side used its id, and so knows that it exists.
    used: bool = False
    #: Digests of the inputs that it requested, and the inputs, by their keys.
    inputs: dict[Key, tuple[bytes, Input]] = field(default_factory=dict)
    #: Whether there were more inputs than are stored.
    inputs_forgotten: bool = False


class TaskStates:
    """Tasks by id, of each side that works on them."""

    def __init__(self, memory: SessionMemory) -> None:
        self._tasks: dict[Sender, BoundedStore[Task]] = {
            receiver: BoundedStore(_MAX_BYTES, memory) for receiver in Sender
        }

    def get(self, receiver: Sender, key: Key) -> Task | None:
        """Return the task of *receiver*, if any message told its state."""
        return self._tasks[receiver].get(key)

    def create(self, receiver: Sender, key: Key, method: str) -> bool:
        """Store that a request of *method* created the task; return False if one did before."""
        task = self._get_or_add(receiver, key)
        if task.method:
            return False
        task.method = method
        return True

    def end(self, receiver: Sender, key: Key, number: int) -> None:
        """Store that the message *number* proves the task to have ended, in any status."""
        task = self._get_or_add(receiver, key)
        if task.ended is None:
            task.ended = number

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

        *request_number* is that of the request that it answers, None for a notification.
        Messages may overtake each other, so an open state proves nothing against a terminal one
        unless it was requested, or last updated, afterwards.
        """
        id_, status = state.get("taskId"), state.get("status")
        if not isinstance(id_, str) or not isinstance(status, str):
            return
        task = self._get_or_add(receiver, key_of(id_))
        updated = state.get("lastUpdatedAt")
        if not isinstance(updated, str) or len(updated) > _MAX_TIMESTAMP:
            updated = ""
        if status in _OPEN and task.ended is not None:
            stale = (
                _is_before(updated, task.updated)
                if request_number is None
                else request_number < task.ended
            )
            if not stale:
                ended = f"was {task.status}" if task.status else "had ended"
                message = f'the task {ended}, found "{status}"'
                _report_left(Fault((*path, "status"), message), report)
                # Reported once; what follows is checked against the status that was found.
                task.status, task.updated, task.ended = "", "", None
        elif status in _TERMINAL:
            if task.status not in ("", status):
                message = f'the task was {task.status}, found "{status}"'
                _report_left(Fault((*path, "status"), message), report, failed=status == "failed")
                task.status, task.updated = status, updated
            elif not task.status:
                task.status, task.updated = status, updated
                task.ended = number if task.ended is None else task.ended
        requests, is_required = state.get("inputRequests"), status == "input_required"
        self._observe_inputs(
            receiver, key_of(id_), task, requests, path, report, is_required=is_required
        )

    def forget_inputs(self, receiver: Sender, key: Key) -> None:
        """Store that the task may have requested inputs that no message told."""
        task = self._tasks[receiver].get(key)
        if task is not None:
            task.inputs_forgotten = True

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
            task.inputs_forgotten |= is_required
            return
        known = len(task.inputs)
        task.inputs_forgotten |= len(requests) > _MAX_INPUTS
        for name, request in islice(requests.items(), _MAX_INPUTS):
            digest = _digest(request)
            seen = task.inputs.get(key_of(name))
            if seen is not None and seen[0] != digest:
                fault = Fault((*path, "inputRequests", name), "the key stood for another request")
                report(tasks.INPUT_KEY_REUSED, fault)
            elif seen is None and len(task.inputs) < _MAX_INPUTS:
                task.inputs[key_of(name)] = (digest, read_input(request))
            elif seen is None:
                task.inputs_forgotten = True
        if len(task.inputs) > known:
            texts = sum(len(input_.params) for _, input_ in task.inputs.values())
            weight = _TASK_BYTES + _INPUT_BYTES * len(task.inputs) + texts
            self._tasks[receiver].put(key, task, weight)


def _report_left(fault: Fault, report: Reporter, *, failed: bool = False) -> None:
    """Report a terminal status that was left, in the version of the message."""
    report(tasks.TERMINAL_LEFT, fault)
    # A server of the extension may mark any task as failed once its ttlMs is over.
    if not failed:
        report(tasks.EXTENSION_TERMINAL_LEFT, fault)


def _is_before(first: str, second: str) -> bool:
    """Return whether the timestamp *first* is before *second*, or they cannot be compared."""
    if len(first) != len(second) or first[19:20] != second[19:20] or first[-1:] != second[-1:]:
        return True
    return first < second


def _digest(request: Any) -> bytes:
    """Return a digest of a requested input, without its `_meta`."""
    params = request.get("params") if isinstance(request, dict) else None
    if isinstance(params, dict):
        params = {name: value for name, value in params.items() if name != "_meta"}
    method = request.get("method") if isinstance(request, dict) else None
    return digest_of([method, params])
