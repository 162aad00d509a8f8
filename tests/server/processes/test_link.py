"""Messages between two processes of a service."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.registry import BindingsChanged, RegistryOutcomeUnknown, RegistryUnusable
from sidecheck_server.server.processes.link import Link, LinkClosed

LARGE = b"x" * 5_000_000


@asynccontextmanager
async def linked(handlers: Mapping[str, Callable[..., Any]]) -> AsyncIterator[tuple[Link, Link]]:
    """Yield two ends, the second of which offers *handlers*."""
    first, second = socket.socketpair()
    links = await Link.open(first, {}), await Link.open(second, handlers)
    try:
        yield links
    finally:
        for link in links:
            await link.close()


async def test_results_of_calls() -> None:
    """Functions and coroutines return results of any size."""

    async def late(value: bytes) -> bytes:
        await asyncio.sleep(0)
        return value

    async with linked({"add": lambda a, b: a + b, "late": late}) as (caller, _):
        calls = caller.call("add", 1, 2), caller.call("late", LARGE)
        assert (3, LARGE) == (await calls[0], await calls[1])


async def test_calls_take_effect_in_order() -> None:
    """Calls without a reader of their result are in order too."""
    numbers: list[int] = []
    async with linked({"note": numbers.append, "all": lambda: list(numbers)}) as (caller, _):
        for number in range(100):
            if number % 2:
                caller.notify("note", number)
            else:
                caller.call("note", number)

        assert [*range(100)] == await caller.call("all")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RequestError(ErrorReason.UNKNOWN_TOOL, "no", {"a": "b"}), None),
        (RegistryUnusable("/a", "is damaged", "page 1"), None),
        (RegistryOutcomeUnknown("/a", "was lost", "eof"), None),
        (BindingsChanged(), None),
        (KeyError(lambda: None), "RuntimeError('KeyError')"),
    ],
    ids=["request", "registry", "outcome", "bindings", "without a pickle"],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_errors_of_calls(error: Exception, expected: str | None, *, is_async: bool) -> None:
    """The caller raises them with their message."""

    def fail() -> None:
        raise error

    async def fail_late() -> None:
        raise error

    async with linked({"fail": fail_late if is_async else fail}) as (caller, _):
        with pytest.raises(Exception) as raised:  # noqa: PT011 - compared below
            await caller.call("fail")

    assert (expected or repr(error)) == repr(raised.value)
    assert expected is not None or (vars(error), str(error)) == (
        vars(raised.value),
        str(raised.value),
    )


async def test_a_call_that_is_cancelled() -> None:
    """The other end cancels it too, and other calls continue."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with linked({"wait": wait, "one": lambda: 1}) as (caller, _):
        call = caller.call("wait")
        await begun.wait()
        call.cancel()
        await ended.wait()

        assert 1 == await caller.call("one")


async def test_an_end_that_closes() -> None:
    """Fails the calls that are open, and those that come."""

    async def wait() -> None:
        await asyncio.Event().wait()

    async with linked({"wait": wait}) as (caller, callee):
        calls = [caller.call("wait") for _ in range(3)]
        assert not caller.closed.done()
        await callee.close()
        await caller.closed
        outcomes = await asyncio.gather(*calls, caller.call("wait"), return_exceptions=True)

    assert [LinkClosed] * 4 == [*map(type, outcomes)]
