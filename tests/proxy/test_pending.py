"""Requests without a response yet: their order, their limit, and their cost."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from sidecheck_server.proxy.rulings.pending import PendingRequests, Request
from support.counted_calls import count_calls

SIZES = (500, 1_000, 2_000, 4_000)


class Compared(Request):
    """A request whose comparisons with others are calls of a function."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


def request(number: int, text: str = "") -> Compared:
    return Compared((int, number), b"%d" % number, "tools/call", tool=text)


def reject_each_behind(open_requests: int, *, same_id: bool) -> None:
    """Let requests come and be rejected, while as many are open before them."""
    pending = PendingRequests()
    for number in range(open_requests):
        pending.add(request(0 if same_id else number))
    for number in range(open_requests, 2 * open_requests):
        rejected = request(0 if same_id else number)
        pending.add(rejected)
        pending.remove(rejected)


def answer_in_order(open_requests: int) -> None:
    pending = PendingRequests()
    for _ in range(open_requests):
        pending.add(request(0))
    while first := pending.find((int, 0)):
        pending.remove(first)


WORK: dict[str, Callable[[int], None]] = {
    "rejected behind others with the same id": lambda n: reject_each_behind(n, same_id=True),
    "rejected behind others with ids of their own": lambda n: reject_each_behind(n, same_id=False),
    "answered in order, with the same id": answer_in_order,
}


@pytest.mark.parametrize("name", WORK)
def test_twice_the_requests_take_twice_the_steps(name: str) -> None:
    """The unit is a function call; a comparison of two requests is one."""
    counts = [count_calls(lambda size=size: WORK[name](size)) for size in SIZES]  # type: ignore[misc]

    for half, whole in pairwise(counts):
        assert whole <= 2.2 * half, counts


def test_a_response_answers_the_oldest_request_with_its_id() -> None:
    """Each once; a request that was removed before is not there."""
    pending = PendingRequests()
    requests = [request(1, "a"), request(2, "b"), request(1, "c"), request(1, "d")]
    for new_request in requests:
        pending.add(new_request)
    pending.remove(requests[2])
    pending.remove(requests[2])
    tools = []
    while first := pending.find((int, 1)):
        tools.append(first.tool)
        pending.remove(first)

    assert ["a", "d"] == tools
    assert ["b"] == [due_request.tool for due_request in pending.pop()]
    assert [] == pending.pop()


@pytest.mark.parametrize("same_id", [True, False])
def test_the_oldest_requests_are_forgotten_beyond_the_bound(same_id: bool) -> None:
    """Their ids do not matter."""
    pending = PendingRequests(maximum=3)
    for number in range(10):
        pending.add(request(0 if same_id else number, str(number)))

    assert ["7", "8", "9"] == [due_request.tool for due_request in pending.pop()]


def test_no_response_is_due_to_a_cancelled_request() -> None:
    """With *ids*, responses to other requests remain due."""
    pending = PendingRequests()
    for number in (1, 2, 3):
        pending.add(request(number, str(number)))
    pending.cancel((int, 1))

    assert ["2"] == [due_request.tool for due_request in pending.pop([(int, 1), (int, 2)])]
    assert ["3"] == [due_request.tool for due_request in pending.pop()]
