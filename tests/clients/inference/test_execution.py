"""Tools that are tried again, and whose results are kept."""

import asyncio
import inspect
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_type

import pytest
import stamina
from sidecheck.inference import acall_tool, call_tool, infer_tool, tool


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """Have no test wait between attempts."""
    with stamina.set_testing(True, attempts=10, cap=True):
        yield


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Flaky:
    """Fails with each error in turn, then counts its calls."""

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


RETRIES = {"retry_on": (ConnectionError, TimeoutError), "max_attempts": 3}


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
async def test_only_named_exceptions_are_tried_again(
    expected: Any, errors: list[Exception], options: dict[str, Any]
) -> None:
    """And so many times at most, in either kind of function."""
    flaky, later = Flaky(*errors), Flaky(*errors)
    made, made_later = infer_tool(flaky, **options), infer_tool(later.later, **options)
    if isinstance(expected, int):
        assert (expected, expected) == (call_tool(made, {}), await acall_tool(made_later, {}))
        return
    with pytest.raises(expected):
        made()
    with pytest.raises(expected):
        await made_later()
    assert flaky.calls == later.calls


def test_arguments_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    made = infer_tool(Flaky(ConnectionError()), **RETRIES)
    assert 2 == made("hush")
    assert "hush" not in caplog.text


async def test_results_are_kept_for_a_while_by_arguments() -> None:
    clock, calls = Clock(), Flaky()
    made = infer_tool(calls, cache_ttl=10.0, clock=clock)
    later = infer_tool(calls.later, cache_ttl=10.0, clock=clock)
    assert [1, 1, 2, 1] == [made("a"), made(secret="a"), made(), call_tool(made, {"secret": "a"})]
    assert 2 == made("")
    clock.now = 9.9
    assert 1 == made("a")
    clock.now = 10.0
    assert 3 == made("a")
    assert [4, 4] == [await later("a"), await later("a")]
    assert [5, 5] == [await acall_tool(later, {"secret": "q"}) for _ in range(2)]


def test_the_oldest_result_gives_way() -> None:
    made = infer_tool(Flaky(), cache_ttl=10.0, cache_size=2, clock=Clock())
    assert [1, 2, 3, 4, 3] == [made(one) for one in "abcac"]


def test_failures_are_not_kept() -> None:
    made = infer_tool(Flaky(KeyError()), cache_ttl=10.0, clock=Clock())
    with pytest.raises(KeyError):
        made()
    assert [2, 2] == [made(), made()]


@dataclass
class Box:
    """Something that cannot be hashed."""

    held: Any


@pytest.mark.parametrize(
    ("kept", "one", "other"),
    [
        (True, {"a": [1, {2}]}, {"a": [1, {2}]}),
        (True, {"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (True, Box([1]), Box([1])),
        (False, Box([1]), Box([2])),
        (False, 1, True),
        (False, 1, 1.0),
        (False, [1], (1,)),
        (False, [[]], [[[]]]),
        (False, bytearray(b"a"), bytearray(b"a")),
    ],
)
def test_calls_are_told_apart_by_their_arguments(kept: bool, one: Any, other: Any) -> None:
    calls = []

    @tool(cache_ttl=1.0, clock=Clock())
    def count(x: Any) -> int:
        calls.append(x)
        return len(calls)

    assert kept == (count(one) == count(other))


def test_one_object_is_not_answered_with_the_results_of_another() -> None:
    class Account:
        def __init__(self, balance: int) -> None:
            self.balance = balance

        @tool(cache_ttl=10.0, clock=Clock())
        def tell(self) -> int:
            return self.balance

    assert [1, 2] == [Account(1).tell(), Account(2).tell()]
    assert [1, 2] == [call_tool(Account(one).tell, {}) for one in (1, 2)]


def test_a_tool_is_the_function_it_was_for_those_who_read_it() -> None:
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
    assert [False, True] == [inspect.iscoroutinefunction(one) for one in (add, later)]
    assert inspect.isfunction(add)
