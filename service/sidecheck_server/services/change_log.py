"""Log of recent changes of the registry, for watches and for waits for a revision."""

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
"""Maximum seconds to wait for a revision that this server has not seen yet."""

_CHANGE_BYTES: Final = 1000
"""Overhead of a change, in bytes, without its definitions and names."""

_DEFINITION_BYTES: Final = 600
"""Overhead of a definition, in bytes; most of the size of small ones."""


class Checkpoint(NamedTuple):
    """A revision up to which all changes were sent, and the identity of its change."""

    revision: int
    id: UUID


class _LogEntry(NamedTuple):
    change: Change
    size: int
    time: float


# Decision 0071: a watch resumes by the identity of a change, a wait ends at a revision.
class ChangeLog:
    """Keeps changes of *registry* for *seconds*, in at most *max_bytes* of memory.

    A log belongs to the running event loop; any thread may change the registry. *clock*
    returns monotonic seconds.
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
        #: Consecutive revisions; the first one follows `_base`.
        self._changes: deque[_LogEntry] = deque()
        self._size = 0
        #: Full reloads of the registry; each discards the history.
        self._reloads = 0
        self._changed = asyncio.Event()
        registry.subscribe(self._schedule_append)
        # Changes from here on arrive by the subscription, and may be in the history as well.
        history = registry.take_history()
        current = _read_checkpoint(registry)
        #: `_base` is the revision before the first change that is kept, and `_base_id` the
        #: identity of its change, if known. `_latest` is the last revision of all.
        self._base = history[0].revision - 1 if history else current.revision
        self._base_id = None if history else current.id
        self._latest = self._base
        for change in history:
            self._append(change)

    @property
    def latest(self) -> int:
        """The revision of the last change."""
        return self._latest

    @property
    def history(self) -> tuple[Change, ...]:
        """The changes that are kept, in order."""
        return tuple(entry.change for entry in self._changes)

    @property
    def checkpoint(self) -> Checkpoint:
        """The last change."""
        id_ = self._find_id(self._latest)
        assert id_ is not None
        return Checkpoint(self._latest, id_)

    async def wait_for_revision(self, revision: int, remaining: float | None = None) -> None:
        """Wait until the registry of this server has *revision*.

        The caller's deadline is in *remaining* seconds; a fifth of them is left for the response.

        Raises:
            RequestError: REVISION_NOT_REACHED if the wait ends before that.
        """
        await self._wait_for(revision, math.inf if remaining is None else 0.8 * remaining)
        if self._latest < revision:
            raise RequestError(
                ErrorReason.REVISION_NOT_REACHED,
                f"the registry of this server is at revision {self._latest}, and the request "
                f"requires {revision}",
                {"revision": str(self._latest), "min_revision": str(revision)},
            )

    async def follow(self, after: int, after_id: str = "") -> AsyncIterator[Change | Checkpoint]:
        """Yield the changes after the revision *after*, then later ones as they happen.

        While there are no changes, checkpoints are yielded: one at once, and then one every few
        seconds. *after_id* is the expected identity of the change of *after*; "" stands for any.

        Raises:
            RequestError: COMPACTED if a change after *after* is not kept, or if the registry was
                restored to an earlier revision.
        """
        reloads = self._reloads
        await self._wait_for(after)
        if after_id and self._base <= after <= self._latest:
            known = self._find_id(after)
            if known is None or str(known) != after_id:
                raise self._compacted_error(
                    f"the registry has another history up to revision {after}"
                )
        while True:
            if reloads != self._reloads or not self._base <= after <= self._latest:
                raise self._compacted_error(
                    f"changes since revision {after} are not kept"
                    if after <= self._latest
                    else f"the registry is at revision {self._latest}, before {after}: it was "
                    "restored"
                )
            if after < self._latest:
                change = self._changes[after - self._base].change
                after = change.revision
                yield change
                continue
            # Taken before the checkpoint is yielded, so that no change in between is missed.
            changed = self._changed
            yield self.checkpoint
            with suppress(TimeoutError):
                async with asyncio.timeout(_CHECKPOINT_SECONDS):
                    await changed.wait()

    async def _wait_for(self, revision: int, max_seconds: float = math.inf) -> None:
        """Wait until *revision* is known, or for *max_seconds* at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(min(_CATCH_UP_SECONDS, max_seconds)):
                while self._latest < revision:
                    await self._changed.wait()

    def _find_id(self, revision: int) -> UUID | None:
        """Return the identity of the change of *revision*, if it is known."""
        if revision == self._base:
            return self._base_id
        return self._changes[revision - self._base - 1].change.id

    def _compacted_error(self, text: str) -> RequestError:
        return RequestError(
            ErrorReason.COMPACTED,
            f"{text}; list the tools, and watch from the revision of that response",
            {"oldest_revision": str(self._base), "revision": str(self._latest)},
        )

    def _schedule_append(self, change: Change) -> None:
        """Append *change* in the event loop; called in any thread."""
        with suppress(RuntimeError):  # The loop is closed.
            self._loop.call_soon_threadsafe(self._append, change)

    def _append(self, change: Change) -> None:
        if change.is_continued:
            return
        if change.is_reload or change.revision > self._latest + 1:
            self._changes.clear()
            self._size = 0
            self._base = self._latest = change.revision
            self._base_id = change.id
            self._reloads += 1
        elif change.revision == self._latest + 1:
            size = _CHANGE_BYTES + sum(map(len, change.unbound))
            size += sum(
                _DEFINITION_BYTES + binding.definition.stored_size for binding in change.bound
            )
            self._changes.append(_LogEntry(change, size, self._clock()))
            self._size += size
            self._latest = change.revision
        self._drop_expired()
        self._changed.set()
        self._changed = asyncio.Event()

    def _drop_expired(self) -> None:
        """Drop the oldest changes, as far as they exceed the bounds of age and memory."""
        earliest = self._clock() - self._seconds
        while self._changes and (self._changes[0].time < earliest or self._size > self._max_bytes):
            dropped = self._changes.popleft()
            self._size -= dropped.size
            self._base = dropped.change.revision
            self._base_id = dropped.change.id


def _read_checkpoint(registry: Registry) -> Checkpoint:
    """Return a matching revision and identity of *registry*, even if it changes."""
    while True:
        id_ = registry.change_id
        revision = registry.revision
        if registry.change_id == id_:
            return Checkpoint(revision, id_)
