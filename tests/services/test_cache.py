"""Cache of computed results: shared computations, weights, errors."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.services.cache import Begin, Cache, is_transient

INVALID = RequestError(ErrorReason.INVALID_TOOL, "invalid")
CRASHED = RequestError(ErrorReason.WORKER_CRASHED, "crashed")
TIMEOUT = RequestError(ErrorReason.LIMIT_EXCEEDED, "slow", {"bound": "compile_seconds"})
TOO_LARGE = RequestError(ErrorReason.LIMIT_EXCEEDED, "large", {"bound": "schema_bytes"})


class Computation:
    """Returns or raises *outcomes* in turn once it is released."""

    def __init__(self, *outcomes: int | RequestError, begins: bool = True) -> None:
        self.calls = 0
        self.released = asyncio.Event()
        self._outcomes = iter(outcomes)
        self._begins = begins

    async def __call__(self, begin: Begin) -> int:
        self.calls += 1
        if self._begins:
            begin()
        await self.released.wait()
        outcome = next(self._outcomes)
        if isinstance(outcome, RequestError):
            raise outcome
        return outcome


def cache_of(
    capacity: int | None = 10, keeps: Callable[[int], bool] = lambda _: True
) -> Cache[str, int]:
    """Return a cache that weighs an entry by its value, an error as 1."""
    return Cache(capacity, lambda _, outcome: outcome if isinstance(outcome, int) else 1, keeps)


def returning(value: int) -> Callable[[Begin], Awaitable[int]]:
    computation = Computation(value)
    computation.released.set()
    return computation


async def test_concurrent_requests_share_a_computation() -> None:
    """Concurrent requests for a key share one computation."""
    cache, computation = cache_of(), Computation(1)
    callers = [asyncio.create_task(cache.get("a", computation)) for _ in range(3)]
    await asyncio.sleep(0)
    assert cache.find("a") is None
    computation.released.set()

    assert [1, 1, 1] == await asyncio.gather(*callers)
    assert (1, 1) == (computation.calls, cache.find("a"))


@pytest.mark.parametrize(("begins", "calls"), [(True, 1), (False, 2)])
async def test_a_begun_computation_outlives_its_callers(begins: bool, calls: int) -> None:
    """A computation that has not begun is cancelled with its last caller."""
    cache, computation = cache_of(), Computation(1, 2, begins=begins)
    caller = asyncio.create_task(cache.get("a", computation))
    await asyncio.sleep(0.01)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    computation.released.set()

    assert 1 == await cache.get("a", computation)
    assert calls == computation.calls


@pytest.mark.parametrize(
    ("error", "calls"), [(INVALID, 1), (TOO_LARGE, 1), (CRASHED, 2), (TIMEOUT, 2)]
)
async def test_errors_are_stored_unless_they_are_transient(error: RequestError, calls: int) -> None:
    """Each caller gets a copy of the error with its own traceback."""
    cache, computation = cache_of(), Computation(error, error)
    computation.released.set()
    errors = []
    for _ in range(2):
        with pytest.raises(RequestError) as raised:
            await cache.get("a", computation)
        errors.append(raised.value)

    assert [error, error] == errors
    assert errors[0] is not errors[1]
    assert (calls, calls == 2) == (computation.calls, is_transient(error))


async def test_the_least_recently_used_entries_are_dropped() -> None:
    """Eviction starts when weights exceed the capacity; heavier entries are never stored."""
    cache = cache_of(capacity=10)
    for key, value in {"a": 4, "b": 4, "large": 11}.items():
        await cache.get(key, returning(value))
    assert 4 == cache.find("a")
    await cache.get("c", returning(5))

    assert [4, None, 5, None] == [cache.find(key) for key in ("a", "b", "c", "large")]
    assert 2 == cache.dropped


async def test_nothing_is_dropped_without_a_capacity() -> None:
    """A cache without a capacity never evicts."""
    cache = cache_of(capacity=None)
    for number in range(1, 100):
        await cache.get(str(number), returning(number))

    assert list(range(1, 100)) == [cache.find(str(number)) for number in range(1, 100)]


async def test_rejected_results_are_not_stored() -> None:
    """Results that the predicate rejects are not stored."""
    cache = cache_of(keeps=lambda value: value > 1)
    for key, value in {"a": 1, "b": 2}.items():
        await cache.get(key, returning(value))

    assert (None, 2) == (cache.find("a"), cache.find("b"))
