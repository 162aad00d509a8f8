"""Clients of a frozen server: every wait ends by the deadline, and no thread remains."""

import asyncio
import threading
import time

import grpc
import pytest
from resilience.client import ACTIONS, freeze_async_stream, freeze_blocking_stream, frozen
from sidecheck import BlockingClient, Schema, SidecheckError, Unavailable
from support.running import RunningServer

#: The deadline of the streams in seconds.
SECONDS = 4.0


def reason(error: SidecheckError | None) -> tuple[bool, grpc.StatusCode | None]:
    """Return whether *error* is `Unavailable`, and its status."""
    return isinstance(error, Unavailable), None if error is None else error.status


EXPECTED = {
    "read": (True, grpc.StatusCode.DEADLINE_EXCEEDED),
    "send": (True, grpc.StatusCode.DEADLINE_EXCEEDED),
    "leave": (False, None),
}


@pytest.mark.parametrize("action", ACTIONS)
def test_a_blocking_stream_on_a_frozen_server_ends(
    shared_server: RunningServer, action: str
) -> None:
    """A wait to send ends too; no thread of the stream outlives the client."""
    before = set(threading.enumerate())
    errors: list[SidecheckError | None] = []
    user = threading.Thread(
        target=lambda: errors.append(freeze_blocking_stream(shared_server, action, SECONDS)),
        daemon=True,
    )
    user.start()
    user.join(120)
    assert [EXPECTED[action]] == [reason(error) for error in errors]
    limit = time.monotonic() + 60
    while set(threading.enumerate()) - before and time.monotonic() < limit:
        time.sleep(0.01)
    assert set() == set(threading.enumerate()) - before


@pytest.mark.parametrize("action", ACTIONS)
async def test_an_asynchronous_stream_on_a_frozen_server_ends(
    shared_server: RunningServer, action: str
) -> None:
    """A wait to send ends too; no task outlives the client."""
    before = asyncio.all_tasks()
    error = await asyncio.wait_for(freeze_async_stream(shared_server, action, SECONDS), 120)
    assert EXPECTED[action] == reason(error)
    async with asyncio.timeout(60):
        while asyncio.all_tasks() - before:  # noqa: ASYNC110  (tasks have no common event)
            await asyncio.sleep(0.01)


def test_a_call_to_a_frozen_server_has_the_verdict_of_the_policy(
    shared_server: RunningServer,
) -> None:
    """The connection stays open, so only the deadline ends the call."""
    with BlockingClient(shared_server.address, timeout=2.0, on_unavailable="deny") as client:
        with frozen(shared_server):
            denied = client.validate(Schema(b"true"), 1)
        answered = client.validate(Schema(b"true"), 1, timeout=120)
    assert (False, True) == (denied.valid, answered.valid)
