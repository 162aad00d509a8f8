"""When work leaves the event loop, and when a long request lets others run."""

import asyncio
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from sidecheck_server.core.limits import Limits

__all__ = [
    "MAX_CONCURRENT",
    "CountOffloaded",
    "OffloadRule",
    "TimeSlice",
    "Work",
    "allow_offloading",
]

_Result = TypeVar("_Result")

#: Called before work is given to a worker process; raises LIMIT_EXCEEDED if the request
#: has used up its share.
CountOffloaded: TypeAlias = Callable[[], None]

MAX_CONCURRENT = 64
"""How many definitions of a request, or schemas of a payload, are processed concurrently."""

_SLICE_SECONDS = 0.002


def allow_offloading() -> None:
    """Allow any number of offloaded tasks; the pool of workers bounds them all the same."""


class Work(StrEnum):
    """Kinds of work on a JSON text, or on names, that cannot be interrupted."""

    DECODE = "decode"
    CONVERT_RESULT = "convert_result"
    READ_DEFINITION = "read_definition"
    NORMALIZE_RESULT = "normalize_result"
    READ_MAPPING = "read_mapping"
    ADAPT_DEFINITION = "adapt_definition"
    CONVERT_DEFINITION = "convert_definition"
    ASSIGN_NAMES = "assign_names"


_STEPS_PER_UNIT: Mapping[Work, int] = MappingProxyType(
    {
        Work.DECODE: 1,
        Work.CONVERT_RESULT: 3,
        Work.READ_DEFINITION: 12,
        Work.NORMALIZE_RESULT: 12,
        Work.READ_MAPPING: 24,
        Work.ADAPT_DEFINITION: 24,
        Work.CONVERT_DEFINITION: 24,
        Work.ASSIGN_NAMES: 780,
    }
)
"""The most steps that a byte of text, or a name, takes; 40,000 steps take a millisecond."""


class OffloadRule:
    """Decides whether work runs in the event loop.

    It does if it takes at most ``inline_steps`` and its text has at most ``inline_bytes``.
    """

    def __init__(self, limits: Limits) -> None:
        self._steps = limits.inline_steps
        self._bytes = limits.inline_bytes

    def runs_inline(self, work: Work, size: int) -> bool:
        """Return whether *work* on *size* bytes, or names, runs in the event loop."""
        return size <= self._bytes and size * _STEPS_PER_UNIT[work] <= self._steps

    async def run(self, work: Work, size: int, function: Callable[[], _Result]) -> _Result:
        """Return what *function* returns, called here or in a thread."""
        if self.runs_inline(work, size):
            return function()
        return await asyncio.to_thread(function)


class TimeSlice:
    """The time that a request with many items may use before it lets others run."""

    __slots__ = ("_started",)

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def is_over(self) -> bool:
        """Return whether the slice is used up."""
        return time.perf_counter() - self._started > _SLICE_SECONDS

    async def renew(self) -> None:
        """Let other tasks run, and start the next slice."""
        await asyncio.sleep(0)
        self._started = time.perf_counter()

    async def yield_if_over(self) -> None:
        """Let other tasks run if the slice is used up."""
        if self.is_over():
            await self.renew()
