"""Pages of tool lists, which clients or the proxy fetch from a server."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from sidecheck_server.core.types import JsonValue
from sidecheck_server.proxy.checks import CallTarget, NotCheckedError
from sidecheck_server.proxy.messages import Message, join_object, read_cursor, read_object
from sidecheck_server.proxy.rulings.definition_checks import ListedTool
from sidecheck_server.proxy.rulings.pending import Request
from sidecheck_server.proxy.rulings.ruling import Ruling

__all__ = [
    "PROTOCOL_VERSION",
    "EndlessListError",
    "ListPages",
    "ListTools",
    "ListingFailed",
    "SharedFetch",
    "ToolSource",
    "client_metadata",
    "list_params",
    "read_next_cursor",
]


class ToolSource(Protocol):
    """Tools of one server, as its ``tools/list`` results define them."""

    @property
    def checks_lists(self) -> bool:
        """Whether listed tools are checked, so that they may be reported or dropped."""
        ...

    @property
    def uses_pins(self) -> bool:
        """Whether clients may call only the tools of a lock file."""
        ...

    def expire(self) -> None:
        """Mark the tools as outdated, because the server has changed them."""
        ...

    def is_dropped(self, name: str) -> bool:
        """Return whether the tool *name* was removed from the list."""
        ...

    def input_schema(self, call: Message) -> JsonValue:
        """Return the input schema of the tool that *call* names, None if it is unknown.

        A tool is known after `find` has returned it.
        """
        ...

    async def find(self, name: str, params: Mapping[str, bytes]) -> CallTarget | None:
        """Return the target to validate calls of the tool *name* against, None if unknown.

        *params* are the params of the call, as JSON texts.

        Raises:
            NotCheckedError: ``TOOLS_NOT_LISTED``, ``TOOLS_NOT_PINNED``, or the tools cannot be
                read.
        """
        ...

    async def rule_result(self, response: Message, request: Request) -> Ruling:
        """Return the ruling on *response*, the page of tools that *request* asks for."""
        ...


PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"

_CLIENT_METADATA = (
    PROTOCOL_VERSION,
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
)
"""Keys of the client's metadata in each request (2026-07-28, basic, "_meta")."""

#: Sends a ``tools/list`` request with params, as JSON texts, and returns its response.
#: Raises `ListingFailed` if there is none.
ListTools: TypeAlias = Callable[[Mapping[str, bytes]], Awaitable[Message]]


class ListingFailed(Exception):
    """The server does not respond to ``tools/list``.

    The next call retries, unless *blocks_client*: over stdio, all messages of the client wait for
    each attempt.
    """

    def __init__(self, *, blocks_client: bool = False) -> None:
        super().__init__()
        self.blocks_client = blocks_client


def client_metadata(params: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the metadata about the client in *params* of a request, as JSON texts."""
    metadata = read_object(params.get("_meta", b"")) or {}
    return {name: metadata[name] for name in _CLIENT_METADATA if name in metadata}


def list_params(call_params: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the params to list the tools for a call with *call_params*."""
    metadata = client_metadata(call_params)
    return {"_meta": join_object(metadata)} if metadata else {}


_FIRST_VERSION_WITH_EMPTY_CURSORS = "2026-07-28"


def read_next_cursor(page: Mapping[str, bytes], version: str) -> str | None:
    """Return the cursor of the page after *page*, None if *page* is the last.

    An empty cursor leads to a further page (2026-07-28, server/utilities/pagination,
    "Implementation Guidelines"). Earlier versions do not say so; their servers write it for the
    end of a list, and clients stop there.
    """
    text = page.get("nextCursor", b"null").strip()
    if not text.startswith(b'"') or (text == b'""' and version < _FIRST_VERSION_WITH_EMPTY_CURSORS):
        return None
    return read_cursor(text)


_MAX_PAGES = 1_000
_MAX_TOOLS = 100_000
_MAX_BYTES = 16 << 20
"""Limits of pages, tools, and bytes of names and cursors, of all incomplete lists together."""


class EndlessListError(Exception):
    """A list exceeds the limits of pages or tools, or its cursors form a cycle."""


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of a list."""

    #: Cursor of the page; None for the first.
    cursor: str | None
    #: Names of its tools.
    names: frozenset[str]
    #: Bytes of the names, and of the cursor that leads to the next page.
    size: int


class ListPages:
    """Pages of incomplete lists.

    Clients may fetch several lists at the same time. Pages are linked by their cursors.
    """

    def __init__(self) -> None:
        #: Pages by the cursor of the page after them, the latest page last.
        self._pages: OrderedDict[str, _Page] = OrderedDict()
        self._tools = 0
        self._bytes = 0

    def clear(self) -> None:
        """Remove all pages, because later pages belong to other lists."""
        self._pages.clear()
        self._tools = self._bytes = 0

    def add(
        self, cursor: str | None, tools: list[ListedTool], next_cursor: str | None
    ) -> frozenset[str] | None:
        """Add the page at *cursor* (None for the first), with *tools*.

        Returns:
            The names of the whole list, if this is its last page and all others are known.

        Raises:
            EndlessListError: the list has no end; its pages are removed.
        """
        previous_pages = self._pages_before(cursor)
        if previous_pages is None:
            return None
        names = frozenset(tool.name for tool in tools)
        if next_cursor is None:
            return names.union(*(page.names for page in previous_pages))
        if next_cursor == cursor or any(next_cursor == page.cursor for page in previous_pages):
            self._remove(cursor)
            raise EndlessListError("a cursor leads back to a page before it")
        size = len(next_cursor) + sum(map(len, names))
        self._remove(next_cursor)
        self._pages[next_cursor] = _Page(cursor, names, size)
        self._tools += len(names)
        self._bytes += size
        if not self._make_room(next_cursor):
            raise EndlessListError(f"more than {_MAX_PAGES:,} pages or {_MAX_TOOLS:,} tools")
        return None

    def _pages_before(self, cursor: str | None) -> list[_Page] | None:
        """Return the pages that lead to the one at *cursor*, None if one is unknown."""
        pages: list[_Page] = []
        while cursor is not None:
            page = self._pages.get(cursor)
            if page is None or len(pages) > _MAX_PAGES:
                return None
            pages.append(page)
            cursor = page.cursor
        return pages

    def _make_room(self, newest: str) -> bool:
        """Remove the oldest pages beyond the limits.

        Return whether all pages up to the one before the cursor *newest* remain.
        """
        while self._exceeds_limits():
            self._remove(next(iter(self._pages)))
        if self._pages_before(newest) is not None:
            return True
        self._remove(newest)
        return False

    def _exceeds_limits(self) -> bool:
        is_long = len(self._pages) > _MAX_PAGES or self._tools > _MAX_TOOLS
        return is_long or self._bytes > _MAX_BYTES

    def _remove(self, cursor: str | None) -> None:
        page = None if cursor is None else self._pages.pop(cursor, None)
        if page is not None:
            self._tools -= len(page.names)
            self._bytes -= page.size


class SharedFetch:
    """Fetch of a tool list, which concurrent callers share."""

    def __init__(self) -> None:
        self._running: asyncio.Task[None] | None = None

    async def run(self, fetch: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run *fetch*, or wait for the one that is running.

        Raises:
            NotCheckedError: the fetch failed.
        """
        if self._running is None:
            self._running = asyncio.create_task(fetch())
            self._running.add_done_callback(self._end)
        try:
            # The cancellation of one caller must not cancel the fetch of the others.
            await asyncio.shield(self._running)
        except NotCheckedError as error:
            # A copy, because raising an exception adds to its traceback.
            raise copy(error) from None

    def _end(self, task: asyncio.Task[None]) -> None:
        self._running = None
        if not task.cancelled():
            # Retrieved here, because asyncio logs an exception that no caller retrieves.
            task.exception()
