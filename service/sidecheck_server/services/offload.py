"""When work leaves the event loop, and when a long request lets others run."""

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

#: Called before work is given to a worker process; raises LIMIT_EXCEEDED if the request
#: has used up its share.
CountOffloaded: TypeAlias = Callable[[], None]

MAX_CONCURRENT = 64
"""How many definitions of a request, or schemas of a payload, are processed concurrently."""

_GROUP_BYTES = 64 << 10
"""The definitions that are processed concurrently, in bytes, unless it is a single one."""

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
        Work.CONVERT_DEFINITION: CONVERSION_BYTE,
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

    def runs_inline(self, work: Work, subject: bytes | int) -> bool:
        """Return whether *work* runs in the event loop on *subject*, as in `steps_of`."""
        size = subject if isinstance(subject, int) else len(subject)
        return size <= self._bytes and steps_of(work, subject) <= self._steps

    async def run(
        self, work: Work, subject: bytes | int, function: Callable[[], _Result]
    ) -> _Result:
        """Return what *function* returns, called here or in a thread.

        It is charged to the request at hand what *work* on *subject* takes at most.
        """
        charge_work(steps_of(work, subject))
        if self.runs_inline(work, subject):
            return function()
        return await asyncio.to_thread(function)


def steps_of(work: Work, subject: bytes | int) -> int:
    """Return the most steps that *work* takes on *subject*, a text or a number of names."""
    if isinstance(subject, int):
        return subject * _STEPS_PER_UNIT[work]
    return len(subject) * _STEPS_PER_UNIT[work] + INTEGER_USES * number_steps(subject)


def concurrent_groups(sizes: Iterable[int]) -> Iterator[slice]:
    """Yield the items to process concurrently, many small or few large ones, as slices.

    *sizes* are those of the definitions, in bytes.
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

    Each may hold the event loop for milliseconds before it first waits, so that other calls
    run before the next one begins.
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
