"""The changes of the registry that are kept, for those who watch it or wait for one."""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final, NamedTuple
from uuid import UUID

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Change

__all__ = ["ChangeLog", "Checkpoint"]

_CHECKPOINT_SECONDS: Final = 5.0
"""Maximum seconds between events of a watch."""

_CATCH_UP_SECONDS: Final = 5.0
"""How long a caller waits for a revision that this server has not seen yet."""

_CHANGE_BYTES: Final = 1000
"""What a change takes beside its definitions and names."""

_DEFINITION_BYTES: Final = 600
"""Overhead of a definition, in bytes; most of the size of small ones."""


class Checkpoint(NamedTuple):
    """A revision up to which all changes were told, and the identity of its change."""

    revision: int
    id: UUID


class _Kept(NamedTuple):
    change: Change
    size: int
    time: float


class ChangeLog:
    """Keeps the changes of *registry* for *seconds*, and in at most *max_bytes* of memory.

    Belongs to the running event loop; the registry is changed in any thread. *clock* returns
    seconds, since any time.
    """

    def __init__(
        self,
        registry: Registry,
        seconds: float,
        max_bytes: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._clock = clock
        #: Of consecutive revisions, that after `_oldest` first.
        self._changes: deque[_Kept] = deque()
        self._size = 0
        #: Full reloads of the registry; each discards the history.
        self._reloads = 0
        self._changed = asyncio.Event()
        registry.subscribe(self._note)
        # What changes from here on is noted, and may be in these as well.
        history = registry.take_history()
        current = _current(registry)
        #: The last revision whose change is not kept, with the identity of that change if it is
        #: known; and the last of all.
        self._oldest = history[0].revision - 1 if history else current.revision
        self._oldest_id = None if history else current.id
        self._latest = self._oldest
        for change in history:
            self._append(change)

    @property
    def latest(self) -> int:
        """The revision of the last change."""
        return self._latest

    @property
    def history(self) -> tuple[Change, ...]:
        """The changes that are kept, in order."""
        return tuple(kept.change for kept in self._changes)

    @property
    def checkpoint(self) -> Checkpoint:
        """The last change."""
        id_ = self._id_of(self._latest)
        assert id_ is not None
        return Checkpoint(self._latest, id_)

    async def reach(self, revision: int, remaining: float | None = None) -> None:
        """Wait until the registry has *revision*, which another server may have told of.

        The caller's deadline is in *remaining* seconds, of which some are left for the answer.

        Raises:
            RequestError: REVISION_NOT_REACHED if it has not for some seconds.
        """
        await self._wait_for(revision, math.inf if remaining is None else 0.8 * remaining)
        if self._latest < revision:
            raise RequestError(
                ErrorReason.REVISION_NOT_REACHED,
                f"the registry of this server is at revision {self._latest}, and the request asks "
                f"for {revision}",
                {"revision": str(self._latest), "min_revision": str(revision)},
            )

    async def follow(self, after: int, after_id: str = "") -> AsyncIterator[Change | Checkpoint]:
        """Yield the changes after the revision *after*, in order, and then as they are made.

        A checkpoint is yielded when there is nothing to tell, now and every few seconds.
        *after_id* is the identity that the change of the revision must have; "" is any.

        Raises:
            RequestError: COMPACTED if changes after *after*, or of later, are not kept, or if the
                registry was set back.
        """
        reloads = self._reloads
        await self._wait_for(after)
        if after_id and self._oldest <= after <= self._latest:
            known = self._id_of(after)
            if known is None or str(known) != after_id:
                raise self._compacted(f"the registry has another history up to revision {after}")
        while True:
            if reloads != self._reloads or not self._oldest <= after <= self._latest:
                raise self._compacted(
                    f"changes since revision {after} are not kept"
                    if after <= self._latest
                    else f"the registry is at revision {self._latest}, before {after}: it was set "
                    "back"
                )
            if after < self._latest:
                change = self._changes[after - self._oldest].change
                after = change.revision
                yield change
                continue
            # An event that is set by now is not that of a change after this one.
            changed = self._changed
            yield self.checkpoint
            with suppress(TimeoutError):
                async with asyncio.timeout(_CHECKPOINT_SECONDS):
                    await changed.wait()

    async def _wait_for(self, revision: int, most: float = math.inf) -> None:
        """Wait until *revision* is known, or for some seconds, at *most* so many."""
        with suppress(TimeoutError):
            async with asyncio.timeout(min(_CATCH_UP_SECONDS, most)):
                while self._latest < revision:
                    await self._changed.wait()

    def _id_of(self, revision: int) -> UUID | None:
        """Return the identity of the change of *revision*, if it is known."""
        if revision == self._oldest:
            return self._oldest_id
        return self._changes[revision - self._oldest - 1].change.id

    def _compacted(self, text: str) -> RequestError:
        return RequestError(
            ErrorReason.COMPACTED,
            f"{text}; list the tools, and watch from the revision of that",
            {"oldest_revision": str(self._oldest), "revision": str(self._latest)},
        )

    def _note(self, change: Change) -> None:
        """Keep *change*, which a thread has made."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._append, change)

    def _append(self, change: Change) -> None:
        if change.is_continued:
            return
        if change.is_reload or change.revision > self._latest + 1:
            self._changes.clear()
            self._size = 0
            self._oldest = self._latest = change.revision
            self._oldest_id = change.id
            self._reloads += 1
        elif change.revision == self._latest + 1:
            size = _CHANGE_BYTES + sum(map(len, change.unbound))
            size += sum(
                _DEFINITION_BYTES + binding.definition.stored_size for binding in change.bound
            )
            self._changes.append(_Kept(change, size, self._clock()))
            self._size += size
            self._latest = change.revision
        self._drop()
        self._changed.set()
        self._changed = asyncio.Event()

    def _drop(self) -> None:
        """Drop the changes that are too old, or too much to keep."""
        earliest = self._clock() - self._seconds
        while self._changes and (self._changes[0].time < earliest or self._size > self._max_bytes):
            dropped = self._changes.popleft()
            self._size -= dropped.size
            self._oldest = dropped.change.revision
            self._oldest_id = dropped.change.id


def _current(registry: Registry) -> Checkpoint:
    """Return the revision of *registry* with its identity, though changes go on."""
    while True:
        id_ = registry.change_id
        revision = registry.revision
        if registry.change_id == id_:
            return Checkpoint(revision, id_)
