"""Turns: who may give the workers something to do, so that no caller takes them all."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from weakref import WeakValueDictionary

__all__ = ["CALLER", "Turns"]

CALLER: ContextVar[Callable[[], str]] = ContextVar("CALLER", default=str)
"""What names whom the work at hand is for: a connection, or "" for the server itself."""


class Turns:
    """As many turns at a time as *all_*, and for each caller *each* of them.

    Whoever has a turn has work in a worker, or next in line for one. Those who wait get
    theirs in the order in which they came, but for callers with too many already.
    """

    def __init__(self, all_: int, each: int) -> None:
        self._all = asyncio.Semaphore(all_)
        self._each = each
        self._callers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold one turn for the caller at hand."""
        name = CALLER.get()()
        own = self._callers.get(name)
        if own is None:
            own = self._callers[name] = asyncio.Semaphore(self._each)
        async with own, self._all:
            yield
