"""Execution of tools: retries, and the cache of results."""

import asyncio
import inspect
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, assert_type

import pytest
from sidecheck.inference import acall_tool, call_tool, infer_tool, tool


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds between attempts, which pass at once."""
    seconds: list[float] = []

    async def pass_at_once(wait: float) -> None:
        if wait:
            seconds.append(wait)

    monkeypatch.setattr("tenacity.nap.time.sleep", seconds.append)
    monkeypatch.setattr(asyncio, "sleep", pass_at_once)
    return seconds


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Flaky:
    """Raises the errors in turn, then returns the number of calls."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self, secret: str = "") -> int:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.calls

    async def later(self, secret: str = "") -> int:
        await asyncio.sleep(0)
        return self(secret)


RETRIES: Any = {"retry_on": (ConnectionError, TimeoutError), "max_attempts": 3}


@pytest.mark.parametrize(
    ("expected", "errors", "options"),
    [
        (3, [ConnectionError(), TimeoutError()], RETRIES),
        (ConnectionError, [ConnectionError()] * 3, RETRIES),
        (KeyError, [KeyError()], RETRIES),
        (ConnectionError, [ConnectionError()], {"retry_on": ConnectionError}),
        (2, [ConnectionError()], {"retry_on": ConnectionError, "max_attempts": 2}),
        (ConnectionError, [ConnectionError()], {"max_attempts": 3}),
    ],
)
async def test_only_listed_exceptions_are_retried(
    expected: Any, errors: list[Exception], options: dict[str, Any]
) -> None:
    """Functions and coroutine functions are retried up to the maximum of attempts."""
    flaky, later = Flaky(*errors), Flaky(*errors)
    tool_function, async_function = infer_tool(flaky, **options), infer_tool(later.later, **options)
    if isinstance(expected, int):
        assert (expected, expected) == (
            call_tool(tool_function, {}),
            await acall_tool(async_function, {}),
        )
        return
    with pytest.raises(expected):
        tool_function()
    with pytest.raises(expected):
        await async_function()
    assert flaky.calls == later.calls


async def test_retries_are_silent(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], waits: list[float]
) -> None:
    """Neither arguments nor the texts of exceptions are logged or printed."""
    caplog.set_level(logging.DEBUG)
    errors = [ConnectionError("hush"), ConnectionError("hush")]
    tool_function = infer_tool(Flaky(*errors), **RETRIES)
    later = infer_tool(Flaky(*errors).later, **RETRIES)
    assert (3, 3) == (tool_function("hush"), await later("hush"))
    assert ([], ("", "")) == (
        [r for r in caplog.records if "hush" in str(vars(r))],
        capfd.readouterr(),
    )
    assert [True] * 4 == [0.1 <= seconds <= 1.2 for seconds in waits]


def test_arguments_may_have_any_name() -> None:
    @tool(**RETRIES)
    def run(fn: str, function: int, attempt: int) -> list[Any]:
        return [fn, function, attempt]

    assert ["a", 1, 2] == call_tool(run, {"fn": "a", "function": 1, "attempt": 2})


def test_an_iterator_is_not_cached() -> None:
    @tool(cache_ttl=10.0, clock=Clock())
    def count(n: int) -> Iterable[int]:
        yield from range(n)

    assert [[0, 1], [0, 1]] == [list(count(2)), list(count(2))]


async def test_results_are_cached_by_arguments_for_a_time() -> None:
    clock, calls = Clock(), Flaky()
    tool_function = infer_tool(calls, cache_ttl=10.0, clock=clock)
    later = infer_tool(calls.later, cache_ttl=10.0, clock=clock)
    assert [1, 1, 2, 1] == [
        tool_function("a"),
        tool_function(secret="a"),
        tool_function(),
        call_tool(tool_function, {"secret": "a"}),
    ]
    assert 2 == tool_function("")
    clock.now = 9.9
    assert 1 == tool_function("a")
    clock.now = 10.0
    assert 3 == tool_function("a")
    assert [4, 4] == [await later("a"), await later("a")]
    assert [5, 5] == [await acall_tool(later, {"secret": "q"}) for _ in range(2)]


def test_the_result_that_was_used_least_recently_is_evicted() -> None:
    tool_function = infer_tool(Flaky(), cache_ttl=10.0, cache_size=2, clock=Clock())
    assert [1, 2, 1, 3, 1, 4] == [tool_function(letter) for letter in "abacab"]


def test_failures_are_not_cached() -> None:
    tool_function = infer_tool(Flaky(KeyError()), cache_ttl=10.0, clock=Clock())
    with pytest.raises(KeyError):
        tool_function()
    assert [2, 2] == [tool_function(), tool_function()]


@dataclass
class Unhashable:
    """A dataclass that is not hashable."""

    value: Any


@pytest.mark.parametrize(
    ("cached", "first", "second"),
    [
        (True, {"a": [1, {2}]}, {"a": [1, {2}]}),
        (True, {"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (True, Unhashable([1]), Unhashable([1])),
        (False, Unhashable([1]), Unhashable([2])),
        (False, 1, True),
        (False, 1, 1.0),
        (False, [1], (1,)),
        (False, [[]], [[[]]]),
        (False, bytearray(b"a"), bytearray(b"a")),
    ],
)
def test_calls_are_distinguished_by_their_arguments(cached: bool, first: Any, second: Any) -> None:
    calls = []

    @tool(cache_ttl=1.0, clock=Clock())
    def count(x: Any) -> int:
        calls.append(x)
        return len(calls)

    assert cached == (count(first) == count(second))


def test_instances_do_not_share_cached_results() -> None:
    class Account:
        def __init__(self, balance: int) -> None:
            self.balance = balance

        @tool(cache_ttl=10.0, clock=Clock())
        def show(self) -> int:
            return self.balance

    assert [1, 2] == [Account(1).show(), Account(2).show()]
    assert [1, 2] == [call_tool(Account(balance).show, {}) for balance in (1, 2)]


def test_a_tool_keeps_the_signature_of_its_function() -> None:
    @tool(cache_ttl=1.0, validate=True)
    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    @tool
    async def later(a: int) -> str:
        return str(a)

    assert_type(add(1), int)
    assert (2, "add", "Add.") == (add(1), add.__name__, add.__doc__)
    assert "(a: int, b: int = 1) -> int" == str(inspect.signature(add))
    assert [False, True] == [inspect.iscoroutinefunction(function) for function in (add, later)]
    assert inspect.isfunction(add)
