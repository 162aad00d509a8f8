"""Lag of the event loop."""

import asyncio
import time
from collections.abc import Callable

import pytest
from sidecheck_server.rpc.admission import LoopLag


def work(seconds: float) -> None:
    """Use the processor for so long."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


async def lag_after(turn: Callable[[float], None], seconds: float, turns: int) -> float:
    """Return the lag after a number of *turns* that each take *seconds*."""
    lag = LoopLag()
    lag.start()
    await asyncio.sleep(0.01)
    for _ in range(turns):
        turn(seconds)
        await asyncio.sleep(0)
    lag.stop()
    return lag.seconds


@pytest.mark.parametrize(
    ("turn", "seconds", "turns"),
    [
        pytest.param(work, 1.0, 1, id="a single long turn"),
        pytest.param(time.sleep, 0.15, 20, id="a process that is stopped again and again"),
    ],
)
async def test_what_is_no_lag(turn: Callable[[float], None], seconds: float, turns: int) -> None:
    """The loop has caught up soon."""
    assert await lag_after(turn, seconds, turns) < 0.05


async def test_many_long_turns_are_lag() -> None:
    """The lag is that of the shortest of the last turns."""
    assert await lag_after(work, 0.15, 20) >= 0.05
