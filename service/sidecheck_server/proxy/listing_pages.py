"""Lists of tools, fetched page by page by clients, or by the proxy on behalf of one."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from sidecheck_server.core.types import JsonValue
from sidecheck_server.proxy.checks import CallTarget, NotCheckedError
from sidecheck_server.proxy.definition_checks import ListedTool
from sidecheck_server.proxy.messages import Message, read_object
from sidecheck_server.proxy.pending import Request
from sidecheck_server.proxy.rulings import Ruling

__all__ = [
    "PROTOCOL_VERSION",
    "EndlessListError",
    "ListPages",
    "ListTools",
    "ListingFailed",
    "SharedFetch",
    "ToolSource",
    "client_metadata",
]


class ToolSource(Protocol):
    """The tools of one server, by what its ``tools/list`` results say."""

    @property
    def filters(self) -> bool:
        """Whether tools may be taken out of a list, or are reported."""
        ...

    @property
    def is_pinned(self) -> bool:
        """Whether only tools of a lock file may be called."""
        ...

    def expire(self) -> None:
        """Note that the server's tools have changed."""
        ...

    def is_dropped(self, name: str) -> bool:
        """Return whether a tool called *name* was taken out of the list."""
        ...

    def input_schema(self, call: Message) -> JsonValue:
        """Return the input schema of the tool that *call* names, None if it is unknown.

        Tools are known once `find` has returned them.
        """
        ...

    async def find(self, name: str, params: Mapping[str, bytes]) -> CallTarget | None:
        """Return what calls of the tool called *name* are validated against, None if unknown.

        *params* are those of the call, as JSON texts.

        Raises:
            NotCheckedError: ``TOOLS_NOT_LISTED``, ``TOOLS_NOT_PINNED``, or the tools cannot be
                read.
        """
        ...

    async def rule_result(self, response: Message, request: Request) -> Ruling:
        """Return what becomes of *response*, the page of tools that *request* asks for."""
        ...


PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"

_CLIENT_METADATA = (
    PROTOCOL_VERSION,
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
)
"""Metadata that describes the client in each request (2026-07-28, basic, "_meta")."""

#: Sends a ``tools/list`` request with these params, as JSON texts, and returns its response.
#: Raises `ListingFailed` if there is none.
ListTools: TypeAlias = Callable[[Mapping[str, bytes]], Awaitable[Message]]


class ListingFailed(Exception):
    """The server does not respond to ``tools/list``.

    It is asked again for the next call, unless *holds_up*: then all messages of the client wait
    for each attempt.
    """

    def __init__(self, *, holds_up: bool = False) -> None:
        super().__init__()
        self.holds_up = holds_up


def client_metadata(params: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what the *params* of a request say of its client, as JSON texts."""
    metadata = read_object(params.get("_meta", b"")) or {}
    return {name: metadata[name] for name in _CLIENT_METADATA if name in metadata}


_MOST_PAGES = 1_000
_MOST_TOOLS = 100_000
_MOST_BYTES = 16 << 20
"""Pages, tools, and bytes of names and cursors of all lists that have not ended."""


class EndlessListError(Exception):
    """A list has more pages or tools than are kept, or leads back to one of its pages."""


@dataclass(frozen=True, slots=True)
class _Page:
    """The names of the tools of a page, and the cursor that leads to it; None for the first."""

    cursor: str | None
    names: frozenset[str]
    size: int


class ListPages:
    """The pages of lists that have not ended yet.

    Clients may fetch lists at the same time, so a page follows the one that led to its cursor.
    """

    def __init__(self) -> None:
        #: The page that leads to each cursor, the last that was added at the end.
        self._before: OrderedDict[str, _Page] = OrderedDict()
        self._tools = 0
        self._bytes = 0

    def clear(self) -> None:
        """Forget all lists: what follows belongs to others."""
        self._before.clear()
        self._tools = self._bytes = 0

    def add(
        self, cursor: str | None, tools: list[ListedTool], next_cursor: str
    ) -> frozenset[str] | None:
        """Add the page at *cursor* (None for the first), with *tools*.

        Returns:
            The names of the whole list, if this is its last page and all others are known.

        Raises:
            EndlessListError: the list is forgotten.
        """
        before = self._pages_before(cursor)
        if before is None:
            return None
        names = frozenset(tool.name for tool in tools)
        if not next_cursor:
            return names.union(*(page.names for page in before))
        if next_cursor == cursor or any(next_cursor == page.cursor for page in before):
            self._remove(cursor)
            raise EndlessListError("a cursor leads back to a page before it")
        size = len(next_cursor) + sum(map(len, names))
        self._remove(next_cursor)
        self._before[next_cursor] = _Page(cursor, names, size)
        self._tools += len(names)
        self._bytes += size
        if not self._makes_room(next_cursor):
            raise EndlessListError(f"more than {_MOST_PAGES:,} pages or {_MOST_TOOLS:,} tools")
        return None

    def _pages_before(self, cursor: str | None) -> list[_Page] | None:
        """Return the pages that lead to the one at *cursor*, None if one is unknown."""
        pages: list[_Page] = []
        while cursor is not None:
            page = self._before.get(cursor)
            if page is None or len(pages) > _MOST_PAGES:
                return None
            pages.append(page)
            cursor = page.cursor
        return pages

    def _makes_room(self, newest: str) -> bool:
        """Forget the oldest pages beyond the limits; return whether the list of *newest* stays."""
        while self._exceeds_limits():
            self._remove(next(iter(self._before)))
        if self._pages_before(newest) is not None:
            return True
        self._remove(newest)
        return False

    def _exceeds_limits(self) -> bool:
        is_long = len(self._before) > _MOST_PAGES or self._tools > _MOST_TOOLS
        return is_long or self._bytes > _MOST_BYTES

    def _remove(self, cursor: str | None) -> None:
        page = None if cursor is None else self._before.pop(cursor, None)
        if page is not None:
            self._tools -= len(page.names)
            self._bytes -= page.size


class SharedFetch:
    """A request to the server that is made once for all who wait for it at a time."""

    def __init__(self) -> None:
        self._running: asyncio.Task[None] | None = None

    async def run(self, fetch: Callable[[], Coroutine[None, None, None]]) -> None:
        """Wait for the end of *fetch*, or of the one that runs already.

        Raises:
            NotCheckedError: it failed.
        """
        if self._running is None:
            self._running = asyncio.create_task(fetch())
            self._running.add_done_callback(self._end)
        try:
            # Others go on waiting if this caller is gone.
            await asyncio.shield(self._running)
        except NotCheckedError as error:
            # A copy, because raising an exception adds to its traceback.
            raise copy(error) from None

    def _end(self, task: asyncio.Task[None]) -> None:
        self._running = None
        if not task.cancelled():
            # It would be logged as never retrieved if nobody waits any more.
            task.exception()
