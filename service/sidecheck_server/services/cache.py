"""Caches of computed results, bounded by weight, and their shares of the memory."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, MutableMapping
from copy import copy
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from cachetools import LRUCache

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.memory import measure_memory

__all__ = ["DEFAULT_SHARES", "Begin", "Cache", "MemoryShares", "is_transient", "weigh_entry"]

_ENTRY_BYTES = 700
"""Overhead of a cache entry, in bytes, without its key and result."""


@dataclass(frozen=True, slots=True)
class MemoryShares:
    """Maximum bytes of each cache; the sum is *memory_bytes*.

    The shares are fixed, so that inline schemas and tools of requests never displace the
    schemas of registered tools.
    """

    memory_bytes: int

    @property
    def registered_schemas(self) -> int:
        """Compiled schemas of registered tools."""
        return self.memory_bytes // 2

    @property
    def inline_schemas(self) -> int:
        """Compiled schemas of requests."""
        return self.memory_bytes // 4

    @property
    def conversions(self) -> int:
        """Definitions converted to the APIs of model providers."""
        return self.memory_bytes // 8

    @property
    def inline_tools(self) -> int:
        """Tool definitions of requests, decoded."""
        return self.memory_bytes // 16

    @property
    def adapted_tools(self) -> int:
        """Definitions adapted to protocol versions."""
        return self.memory_bytes // 32

    @property
    def findings(self) -> int:
        """Findings of the rules about definitions to register."""
        return self.memory_bytes // 32


DEFAULT_SHARES = MemoryShares(256 << 20)
"""The shares for the default of the setting."""


# Decision 0052: an entry is weighed once, by the memory that it can grow to.
def weigh_entry(key: object, outcome: object) -> int:
    """Return the bytes of a cache entry with *key* and *outcome*."""
    return _ENTRY_BYTES + measure_memory(key, outcome)


_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

#: Called by a computation at the moment from which on cancelling it would waste its work.
Begin: TypeAlias = Callable[[], None]

_MACHINE_BOUNDS = frozenset({"compile_seconds", "worker_bytes"})
"""Bounds that depend on the load of the machine, so that a retry may succeed."""


class Cache(Generic[_Key, _Value]):
    """Results of computations by key, and the request errors that computations raised.

    Concurrent requests for a key share one computation. The least recently used entries
    are dropped once the weights of all entries exceed *capacity*; with the capacity None
    nothing is ever dropped. *weigh* returns the weight of an entry. Entries heavier than
    the capacity, results for which *keeps* returns False and transient errors are not stored.
    Running computations have no weight: the number of workers bounds their results.
    """

    def __init__(
        self,
        capacity: int | None,
        weigh: Callable[[_Key, _Value | RequestError], int],
        keeps: Callable[[_Value], bool] = lambda _: True,
    ) -> None:
        self._capacity = capacity
        self._weigh = weigh
        self._keeps = keeps
        self._entries: MutableMapping[_Key, _Entry[_Value]]
        if capacity is None:
            self._entries = {}
        else:
            self._entries = LRUCache(capacity, getsizeof=lambda entry: entry.weight)
        self._computations: dict[_Key, _Computation[_Value]] = {}
        #: Number of entries that were dropped, or too heavy to be stored.
        self.dropped = 0
        #: Numbers of requests for a stored result, and of computations that began.
        self.hits = self.misses = 0

    @property
    def capacity(self) -> int | None:
        """The weight that all entries may have; None if they are not weighed."""
        return self._capacity

    @property
    def weight(self) -> int:
        """The weight of all entries; 0 if they are not weighed."""
        return int(self._entries.currsize) if isinstance(self._entries, LRUCache) else 0

    def __contains__(self, key: _Key) -> bool:
        """Return whether *key* has a stored outcome, without marking it as used."""
        return key in self._entries

    def find(self, key: _Key) -> _Value | None:
        """Return the stored result of *key*, or None if nothing is stored.

        Raises:
            RequestError: the stored error.
        """
        entry = self._entries.get(key)
        return None if entry is None else _result(entry.outcome)

    async def get(self, key: _Key, compute: Callable[[Begin], Awaitable[_Value]]) -> _Value:
        """Return the result of *key*, computed by *compute* unless it is stored.

        A computation that has begun continues when all of its callers are cancelled, since
        its result is likely to be needed again. One that has not begun is cancelled with them.

        Raises:
            RequestError: as *compute*.
        """
        entry = self._entries.get(key)
        if entry is None:
            return _result(await self._join(key, compute))
        self.hits += 1
        return _result(entry.outcome)

    async def _join(
        self, key: _Key, compute: Callable[[Begin], Awaitable[_Value]]
    ) -> _Value | RequestError:
        """Wait for the computation of *key*, and start it unless it runs already."""
        computation = self._computations.get(key)
        if computation is None:
            self.misses += 1
            computation = self._computations[key] = _Computation()
            task = asyncio.create_task(self._compute(key, compute, computation.begin))
            computation.task = task
            task.add_done_callback(lambda _: self._remove(key, task))
        assert computation.task is not None
        computation.waiters += 1
        try:
            return await asyncio.shield(computation.task)
        finally:
            computation.waiters -= 1
            if not computation.waiters and not computation.has_begun:
                computation.task.cancel()
                self._remove(key, computation.task)

    async def _compute(
        self, key: _Key, compute: Callable[[Begin], Awaitable[_Value]], begin: Begin
    ) -> _Value | RequestError:
        outcome: _Value | RequestError
        try:
            outcome = result = await compute(begin)
        except RequestError as error:
            outcome = copy(error)
            stored = not is_transient(error)
        else:
            stored = self._keeps(result)
        if stored:
            before = len(self._entries)
            weight = self._weigh(key, outcome)
            if self._capacity is None or weight <= self._capacity:
                self._entries[key] = _Entry(outcome, weight)
            self.dropped += before + 1 - len(self._entries)
        return outcome

    def _remove(self, key: _Key, task: "asyncio.Task[_Value | RequestError]") -> None:
        """Remove the computation of *key* if *task* runs it."""
        computation = self._computations.get(key)
        if computation is not None and computation.task is task:
            del self._computations[key]
        # Without waiters nobody retrieves the exception, and asyncio would log it.
        if task.done() and not task.cancelled():
            task.exception()


def is_transient(error: RequestError) -> bool:
    """Return whether a retry of the same request may succeed."""
    bound = error.metadata.get("bound")
    return error.reason is ErrorReason.WORKER_CRASHED or bound in _MACHINE_BOUNDS


class _Entry(NamedTuple, Generic[_Value]):
    outcome: _Value | RequestError
    weight: int


@dataclass(slots=True)
class _Computation(Generic[_Value]):
    """A running computation and the number of callers that wait for it."""

    has_begun: bool = False
    waiters: int = 0
    task: "asyncio.Task[_Value | RequestError] | None" = None

    def begin(self) -> None:
        self.has_begun = True


def _result(outcome: _Value | RequestError) -> _Value:
    if isinstance(outcome, RequestError):
        # Raising extends the traceback, whose frames hold the caller's request: a stored
        # error is never raised itself.
        raise copy(outcome)
    return outcome
