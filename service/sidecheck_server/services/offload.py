"""Rules by which work leaves the event loop, and long requests yield to others."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import number_steps
from sidecheck_server.services.request_work import charge_work
from sidecheck_server.workers.tasks import CONVERSION_BYTE, INTEGER_USES

__all__ = [
    "MAX_CONCURRENT",
    "CountOffloaded",
    "OffloadRule",
    "TimeSlice",
    "Work",
    "allow_offloading",
    "concurrent_groups",
    "gather_in_turns",
    "steps_of",
]

_Result = TypeVar("_Result")

#: Counts a task before it goes to a worker process; raises LIMIT_EXCEEDED if the request
#: has had its maximum of such tasks.
CountOffloaded: TypeAlias = Callable[[], None]

MAX_CONCURRENT = 64
"""Maximum definitions of a request, or schemas of a payload, processed concurrently."""

_GROUP_BYTES = 64 << 10
"""Maximum size in bytes of the definitions processed concurrently; a larger one runs alone."""

_SLICE_SECONDS = 0.002


def allow_offloading() -> None:
    """Allow any number of offloaded tasks; the pool of workers still bounds them."""


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
        Work.CONVERT_DEFINITION: CONVERSION_BYTE,
        Work.ASSIGN_NAMES: 780,
    }
)
"""Maximum steps for a byte of text, or for a name; 40,000 steps take a millisecond."""


class OffloadRule:
    """Decides whether work runs in the event loop.

    Work runs there if it takes at most ``inline_steps`` on a text of at most ``inline_bytes``.
    """

    def __init__(self, limits: Limits) -> None:
        self._steps = limits.inline_steps
        self._bytes = limits.inline_bytes

    def runs_inline(self, work: Work, subject: bytes | int) -> bool:
        """Return whether *work* runs in the event loop on *subject*, as in `steps_of`."""
        size = subject if isinstance(subject, int) else len(subject)
        return size <= self._bytes and steps_of(work, subject) <= self._steps

    async def run(
        self, work: Work, subject: bytes | int, function: Callable[[], _Result]
    ) -> _Result:
        """Call *function*, in the event loop or in a thread, and return its result.

        The current request is charged the maximum steps of *work* on *subject*.
        """
        charge_work(steps_of(work, subject))
        if self.runs_inline(work, subject):
            return function()
        return await asyncio.to_thread(function)


def steps_of(work: Work, subject: bytes | int) -> int:
    """Return the maximum steps of *work* on *subject*, a text or a number of names."""
    if isinstance(subject, int):
        return subject * _STEPS_PER_UNIT[work]
    return len(subject) * _STEPS_PER_UNIT[work] + INTEGER_USES * number_steps(subject)


def concurrent_groups(sizes: Iterable[int]) -> Iterator[slice]:
    """Yield slices of the items to process concurrently: many small or few large ones.

    *sizes* are the sizes of the items, in bytes.
    """
    start = end = size = 0
    for end, added in enumerate(sizes, 1):
        first = end - 1
        if first > start and (first - start == MAX_CONCURRENT or size + added > _GROUP_BYTES):
            yield slice(start, first)
            start, size = first, 0
        size += added
    if start < end:
        yield slice(start, end)


async def gather_in_turns(coroutines: Iterable[Coroutine[Any, Any, _Result]]) -> list[_Result]:
    """Run *coroutines* concurrently, and return their results in order.

    A coroutine may hold the event loop for milliseconds before its first await, so other
    tasks get a turn before the next coroutine starts.
    """
    tasks: list[asyncio.Task[_Result]] = []
    try:
        for coroutine in coroutines:
            tasks.append(asyncio.create_task(coroutine))
            await asyncio.sleep(0)
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


class TimeSlice:
    """Time that a request with many items may hold the event loop before it yields."""

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
