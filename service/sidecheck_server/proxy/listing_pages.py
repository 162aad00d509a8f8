"""Lists of tools that clients fetch page by page, and what several callers wait for at once."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from copy import copy

from sidecheck import SidecheckError

from sidecheck_server.proxy.definition_checks import ListedTool

__all__ = ["ListPages", "SharedFetch"]

_MOST_LISTS = 100
"""Lists that clients fetch at the same time."""

_MOST_TOOLS = 100_000


class ListPages:
    """The lists that have not ended yet.

    Clients may fetch lists at the same time, so a page follows the one that led to its cursor.
    """

    def __init__(self) -> None:
        #: Tools of all pages before the one at a cursor, the last that was added at the end.
        self._before: OrderedDict[str, list[ListedTool]] = OrderedDict()

    def clear(self) -> None:
        """Forget all lists: what follows belongs to others."""
        self._before.clear()

    def add(
        self, cursor: str | None, tools: list[ListedTool], next_cursor: str
    ) -> list[ListedTool] | None:
        """Add the page at *cursor* (None for the first), with *tools*.

        Returns:
            The tools of the whole list, if this is its last page and all others are known.
        """
        before = [] if cursor is None else self._before.get(cursor)
        if before is None or len(before) + len(tools) > _MOST_TOOLS:
            return None
        if not next_cursor:
            return [*before, *tools]
        self._before[next_cursor] = [*before, *tools]
        self._before.move_to_end(next_cursor)
        if len(self._before) > _MOST_LISTS:
            self._before.popitem(last=False)
        return None


class SharedFetch:
    """A request to the server that is made once for all who wait for it at a time."""

    def __init__(self) -> None:
        self._running: asyncio.Task[None] | None = None

    async def run(self, fetch: Callable[[], Coroutine[None, None, None]]) -> None:
        """Wait for the end of *fetch*, or of the one that runs already.

        Raises:
            SidecheckError: it failed.
        """
        if self._running is None:
            self._running = asyncio.create_task(fetch())
            self._running.add_done_callback(self._end)
        try:
            # Others go on waiting if this caller is gone.
            await asyncio.shield(self._running)
        except SidecheckError as error:
            # A copy, because raising an exception adds to its traceback.
            raise copy(error) from None

    def _end(self, task: asyncio.Task[None]) -> None:
        self._running = None
        if not task.cancelled():
            # It would be logged as never retrieved if nobody waits any more.
            task.exception()
