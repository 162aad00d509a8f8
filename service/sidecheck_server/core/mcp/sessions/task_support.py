"""Support of tasks that the peers declared: capabilities, and listed tools (2025-11-25)."""

from typing import Any

from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.methods import METHODS
from sidecheck_server.core.mcp.rules.capabilities import is_declared
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["TaskSupport"]

_MAX_TOOLS = 100_000
_MAX_LISTED = 5000
"""Number of tools of one result that are stored."""

_SUPPORT = ("required", "optional", "forbidden")

_NEEDS = {(m.name, m.sender): m.needs_as_task.path for m in METHODS if m.needs_as_task}
"""Capabilities of receivers, by the method and the sender of requests as tasks."""


_TELLING = frozenset({"initialize", "tools/list", "notifications/tools/list_changed"})
"""Methods whose messages declare support."""


class TaskSupport:
    """What the receivers of requests declared about requests as tasks."""

    def __init__(self, memory: SessionMemory, context: Context) -> None:
        self._declared = {
            Sender.CLIENT: _paths(context.client_capabilities),
            Sender.SERVER: _paths(context.server_capabilities),
        }
        #: `taskSupport` of the tools that were listed last.
        self._tools: BoundedStore[str] = BoundedStore(_MAX_TOOLS, memory)

    def observe(self, current: SessionMessage) -> None:
        """Store the capabilities or the tools that the current message declares."""
        if current.message.method not in _TELLING:
            return
        match (current.message.method, current.message.kind):
            case ("initialize", Kind.REQUEST):
                self._declared[Sender.CLIENT] = _paths(current.params.get("capabilities"))
            case ("initialize", Kind.RESULT):
                self._declared[Sender.SERVER] = _paths(current.result.get("capabilities"))
            case ("tools/list", Kind.RESULT):
                self._store(current.result.get("tools"))
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                self._tools.clear()

    def of_requests(self, method: str, requester: Sender) -> bool | None:
        """Return whether requests of *requester* may be tasks, or None if unknown."""
        declared = self._declared[requester.peer]
        path = _NEEDS.get((method, requester))
        return False if path is None else None if declared is None else path in declared

    def of_tool(self, name: Any) -> str:
        """Return the `taskSupport` of the tool, or "" if unknown."""
        return self._tools.get(key_of(name)) or ""

    def _store(self, tools: Any) -> None:
        names: set[str] = set()
        for tool in tools[:_MAX_LISTED] if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if not isinstance(name, str):
                continue
            execution = tool.get("execution", {})
            # The default of a tool that says nothing.
            support = (
                execution.get("taskSupport", "forbidden") if isinstance(execution, dict) else None
            )
            # A call by a name that two tools have may be of either.
            is_known = isinstance(support, str) and support in _SUPPORT and name not in names
            names.add(name)
            if is_known and isinstance(support, str):
                self._tools.put(key_of(name), support)
            else:
                self._tools.pop(key_of(name))


def _paths(capabilities: Any) -> frozenset[str] | None:
    """Return which of the needed capabilities are declared; None if unknown."""
    if not isinstance(capabilities, dict):
        return None
    return frozenset(path for path in _NEEDS.values() if is_declared(capabilities, path))
