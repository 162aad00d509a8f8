"""Budget of the bytes of large messages, in all and for each connection."""

import asyncio

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.bytes_in_flight import BytesInFlight

CAPACITY = 100


async def settle() -> None:
    """Let tasks run that can."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_requests_beyond_the_capacity_are_rejected() -> None:
    """Released bytes can be reserved again."""
    budget = BytesInFlight(CAPACITY)
    budget.take("a", 50)
    release = budget.take("b", 50)
    with pytest.raises(RequestError) as raised:
        budget.take("c", 1)
    release()
    budget.take("c", 50)

    assert ErrorReason.OVERLOADED is raised.value.reason
    assert {"bound": "bytes_in_flight"} == raised.value.metadata


def test_one_connection_has_half_of_the_capacity() -> None:
    """The other connections have the rest."""
    budget = BytesInFlight(CAPACITY)
    budget.take("a", 30)
    with pytest.raises(RequestError):
        budget.take("a", 30)
    budget.take("b", 50)


def test_a_message_larger_than_the_capacity_fits_alone() -> None:
    """The limit of the message itself is another one."""
    budget = BytesInFlight(CAPACITY)
    release = budget.take("a", 5 * CAPACITY)
    with pytest.raises(RequestError):
        budget.take("b", 1)
    release()
    budget.take("b", 1)


async def test_responses_wait_for_capacity_in_order() -> None:
    """A smaller response of another connection may pass a larger one."""
    budget = BytesInFlight(CAPACITY)
    release = await budget.wait("a", 50)
    order = []

    async def send(peer: str, size: int) -> None:
        await budget.wait(peer, size)
        order.append((peer, size))

    async with asyncio.TaskGroup() as group:
        for peer, size in (("a", 40), ("b", 50), ("a", 10)):
            group.create_task(send(peer, size))
            await settle()
        first = list(order)
        release()

    assert [("b", 50)] == first
    assert [("b", 50), ("a", 40), ("a", 10)] == order


async def test_as_many_bytes_wait_as_the_capacity() -> None:
    """Further responses are rejected at once."""
    budget = BytesInFlight(CAPACITY)
    release = await budget.wait("a", CAPACITY)
    waiting = [asyncio.create_task(budget.wait(peer, 50)) for peer in "bc"]
    await settle()
    with pytest.raises(RequestError) as raised:
        await budget.wait("d", 1)
    release()
    await asyncio.gather(*waiting)

    assert ErrorReason.OVERLOADED is raised.value.reason


async def test_a_cancelled_response_releases_its_bytes() -> None:
    """The cancellation may arrive while it waits or after its turn began."""
    budget = BytesInFlight(CAPACITY)
    release = await budget.wait("a", CAPACITY)
    waiting, turned = (asyncio.create_task(budget.wait("b", CAPACITY)) for _ in range(2))
    await settle()
    waiting.cancel()
    release()
    turned.cancel()
    await asyncio.gather(waiting, turned, return_exceptions=True)
    await settle()

    budget.take("c", 50)
    budget.take("d", 50)
