"""Lag of the event loop."""

import asyncio
import time

import pytest
from sidecheck_server.rpc.admission import LoopLag


def work(seconds: float) -> None:
    """Use the processor for so long."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@pytest.mark.parametrize(
    ("lag_seconds", "measurements"),
    [
        pytest.param(0.0, [(1.0, 1.0)], id="a single long turn"),
        pytest.param(0.0, [(0.2, 0.0)] * 20, id="a process that is stopped repeatedly"),
        pytest.param(0.0, [(-0.001, 0.0)] * 20, id="an idle loop"),
        pytest.param(0.1, [(0.2, 0.2), (0.2, 0.1)] * 10, id="many long turns"),
        pytest.param(0.0, [*[(0.2, 0.2)] * 20, (0.0, 0.0)], id="a loop that has caught up"),
    ],
)
def test_the_lag_is_the_least_of_the_last_measurements(
    lag_seconds: float, measurements: list[tuple[float, float]]
) -> None:
    """A measurement is the lesser of a task's delay and the loop's working time."""
    lag = LoopLag()
    for late, worked in measurements:
        lag.record(late, worked)

    assert lag_seconds == lag.seconds


async def test_long_turns_of_a_running_loop_are_lag() -> None:
    """The loop itself is measured."""
    lag = LoopLag()
    lag.start()
    await asyncio.sleep(0.01)
    for _ in range(20):
        work(0.15)
        await asyncio.sleep(0)
    lag.stop()

    assert lag.seconds > 0
