"""The largest requests yield the event loop, and take a bounded amount of work.

Bounds are multiples of work on the same thread and machine, or counts of completed work.
"""

import asyncio
import json
import time
from itertools import pairwise
from typing import Any

import grpc
import pytest
from resilience.long_requests import LONG_REQUESTS
from resilience.measured_loop import MeasuredServer, run_with_server
from resilience.turns import attack_with, stub_of
from sidecheck.v1 import registry_service_pb2
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import MalformedError, decode, encode_like, number_steps
from sidecheck_server.core.types import JsonValue
from sidecheck_server.services.offload import concurrent_groups, gather_in_turns

LONGEST_TURN_BYTES = 16 << 20
"""Bytes of JSON whose decoding takes as long as a turn may last."""


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize(
    "name",
    [
        "plain names",
        "new tools",
        "bad tools to register",
        "large tools of many values to register",
        "tools of long integers to register",
        "integers to normalize",
        "integers to validate",
        "sampling",
        "documents",
        "capabilities",
        "items with options",
        "tools to convert",
    ],
)
def test_turns_of_the_largest_requests(name: str) -> None:
    """Each has an answer, and no turn of the event loop takes longer than a decoding."""
    text = json.dumps([{"key": "a text", "values": [1, 2, 3]}] * 10_000)

    def decoding_seconds() -> float:
        began = time.thread_time()
        json.loads(text)
        return time.thread_time() - began

    def attack(server: MeasuredServer) -> Any:
        return attack_with(server, LONG_REQUESTS[name])

    turns, answer = run_with_server(attack)
    unit = decoding_seconds() / len(text)

    assert turns.longest / unit < LONGEST_TURN_BYTES
    assert not isinstance(answer, grpc.RpcError) or (
        answer.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    )


@pytest.mark.server
def test_a_cancelled_request_stops() -> None:
    """The remaining tools are not checked, and no tool is registered."""
    attack = LONG_REQUESTS["tools to register"]

    def leave(server: MeasuredServer) -> tuple[grpc.StatusCode, int, int]:
        register = stub_of(server, attack.method)
        request: Any = attack.request(600)
        server.loop.reset()
        call = register.future(request)
        # Some tools are checked, and most are not.
        while server.loop.total < 0.1:
            time.sleep(0.01)
        call.cancel()
        # This takes as long as the rest of the cancelled request would.
        request.server = "t"
        register(request, timeout=300)
        tools = [
            stub_of(server, "ListTools")(
                registry_service_pb2.ListToolsRequest(server=name), timeout=300
            ).tools
            for name in "st"
        ]
        return call.code(), len(tools[0]), len(tools[1])

    code, left, registered = run_with_server(leave)

    assert (grpc.StatusCode.CANCELLED, 0) == (code, left)
    assert registered > 0


@pytest.mark.server
def test_requests_with_too_many_names_are_rejected() -> None:
    """Requests that only list names have a limit of names."""

    def send(server: MeasuredServer) -> list[str]:
        details = []
        for name in ("names to delete", "long names", "names of functions"):
            attack = LONG_REQUESTS[name]
            with pytest.raises(grpc.RpcError) as raised:
                stub_of(server, attack.method)(attack.request(10_001))
            error: Any = raised.value
            details.append(error.details())
        return details

    excess = "10,001, more than the limit of 10,000 (batch_items)"
    assert [
        f"the names: {excess}",
        f"the names: {excess}",
        f"the names of functions, types and parameters: {excess}",
    ] == run_with_server(send)


async def test_concurrent_work_begins_in_turns() -> None:
    """Another task runs between the first steps of concurrent work."""
    log: list[str] = []
    done = False

    async def work(name: str) -> str:
        log.append(name)
        await asyncio.sleep(0.01)
        return name.upper()

    async def bystand() -> None:
        while not done:
            log.append("bystander")
            await asyncio.sleep(0)

    bystander = asyncio.create_task(bystand())
    results = await gather_in_turns(map(work, "abc"))
    done = True
    await bystander

    assert ["A", "B", "C"] == results
    indexes = [log.index(name) for name in "abc"]
    assert all("bystander" in log[first:second] for first, second in pairwise(indexes))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], []),
        ([1] * 3, [(0, 3)]),
        ([1] * 130, [(0, 64), (64, 128), (128, 130)]),
        ([70_000, 1, 70_000, 70_000], [(0, 1), (1, 2), (2, 3), (3, 4)]),
        ([30_000, 30_000, 30_000], [(0, 2), (2, 3)]),
    ],
)
def test_groups_are_bounded_in_number_and_bytes(
    sizes: list[int], expected: list[tuple[int, int]]
) -> None:
    """A large definition is a group of its own."""
    assert expected == [(part.start, part.stop) for part in concurrent_groups(sizes)]


INTEGERS = b"[" + b",".join(b"%d" % n + b"7" * 4_190 for n in range(1, 31)) + b"]"


def test_long_integers_cost_steps() -> None:
    """Thirty exceed the steps of the event loop; short integers have no steps."""
    assert number_steps(INTEGERS) > Limits().inline_steps
    assert 0 == number_steps(b"[" + b"1234567890," * 5_000 + b"1]")


def test_long_integers_are_written_unchanged() -> None:
    """They may be nested in other values."""
    value: JsonValue = {"a": decode(INTEGERS, max_depth=9), "b": [1, True, None, "x", 1.5]}
    text = encode_like(INTEGERS, value)

    assert b'{"a":' + INTEGERS + b',"b":[1,true,null,"x",1.5]}' == text


def test_duplicate_keys_beside_long_integers_are_detected() -> None:
    """The decoder reads the text; it does not write it again."""
    with pytest.raises(MalformedError) as raised:
        decode(b'{"n":' + INTEGERS + b',"a":1,"a":2}', max_depth=9)

    assert [("/a", "DUPLICATE_KEY")] == [
        (violation.instance_location, violation.code) for violation in raised.value.violations
    ]
