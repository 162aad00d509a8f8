"""Rule on the order of tools: the same tools are listed in the same order (2026-07-28)."""

from hashlib import blake2b
from typing import Any

from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.rules.features import TOOLS_ORDER_CHANGED
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Reporter,
    SessionMemory,
    SessionMessage,
)
from sidecheck_server.core.payload import encode_sorted

__all__ = ["ToolsOrder"]

_MAX_REQUESTS = 1000
_MAX_TOOLS = 1000
"""Number of tools of a list up to which its order is checked."""


class ToolsOrder:
    """The list of tools that was last seen whole, on one page."""

    methods: frozenset[str] | None = frozenset({"tools/list", "notifications/tools/list_changed"})

    def __init__(self, memory: SessionMemory) -> None:
        #: Requests without a cursor that have no response.
        self._requested: BoundedStore[bool] = BoundedStore(_MAX_REQUESTS, memory)
        #: Digests of the definitions, in any order and in their order; None if unknown.
        self._last: tuple[bytes, bytes] | None = None

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Compare a list of tools with the last one."""
        if not TOOLS_ORDER_CHANGED.holds_in(current.version):
            return
        match (current.message.method, current.message.kind):
            case ("tools/list", Kind.REQUEST):
                self._requested.pop(current.key)
                if "cursor" not in current.params:
                    self._requested.put(current.key, value=True)
            case ("tools/list", Kind.RESULT):
                if self._requested.pop(current.key) and "nextCursor" not in current.result:
                    tools = None if current.has_long_integers else current.result.get("tools")
                    self._compare(tools, report)
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                # Tools may have been removed and added again.
                self._last = None

    def _compare(self, tools: Any, report: Reporter) -> None:
        previous, self._last = self._last, None
        if not isinstance(tools, list) or len(tools) > _MAX_TOOLS:
            return
        digests = [_digest(encode_sorted(tool)) for tool in tools]
        self._last = (_digest(b"".join(sorted(digests))), _digest(b"".join(digests)))
        if previous is not None and previous[0] == self._last[0] and previous != self._last:
            message = "expected the tools in the order of the previous list, which has the same"
            report(TOOLS_ORDER_CHANGED, Fault(("result", "tools"), message))


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()
