"""Names of tools on the pages of one list, which should be unique in all of it."""

from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.rules.names import NO_DUPLICATES
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["PageNames"]

_MAX_REQUESTS = 10_000
_MAX_NAMES = 10_000
_MAX_TOOLS = 5000
"""Number of tools of one page that are looked at."""

_FIRST_PAGE = key_of(None)


class PageNames:
    """The pages that have each name, since the last first page."""

    methods: frozenset[str] | None = frozenset({"tools/list", "notifications/tools/list_changed"})

    def __init__(self, memory: SessionMemory) -> None:
        #: The cursors of requests without a response.
        self._requested: BoundedStore[Key] = BoundedStore(_MAX_REQUESTS, memory)
        self._pages: BoundedStore[Key] = BoundedStore(_MAX_NAMES, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Report the names of a page that another page has."""
        match (current.message.method, current.message.kind):
            case ("tools/list", Kind.REQUEST):
                cursor = current.params.get("cursor")
                page = key_of(cursor) if isinstance(cursor, str) else _FIRST_PAGE
                self._requested.put(current.key, page)
            case ("tools/list", Kind.RESULT):
                requested = self._requested.pop(current.key)
                if requested is not None:
                    self._check_page(current, requested, report)
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                self._pages.clear()

    def _check_page(self, current: SessionMessage, page: Key, report: Reporter) -> None:
        if page == _FIRST_PAGE:
            self._pages.clear()
        tools = current.result.get("tools")
        for index, tool in enumerate(tools[:_MAX_TOOLS] if isinstance(tools, list) else ()):
            name = tool.get("name") if isinstance(tool, dict) else None
            if not isinstance(name, str):
                continue
            key = key_of(name)
            # A page may be asked for again.
            if self._pages.get(key) not in {None, page}:
                message = "names of tools should be unique; an earlier page of the list has it too"
                report(NO_DUPLICATES, Fault(("result", "tools", index, "name"), message))
            else:
                self._pages.put(key, page)
