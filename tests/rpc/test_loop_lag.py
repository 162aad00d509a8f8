"""Lag of the event loop."""

import asyncio
import time

from sidecheck_server.rpc.loop_lag import LoopLag


async def test_a_single_long_turn_is_no_lag() -> None:
    """The loop has caught up after it."""
    lag = LoopLag()
    lag.start()
    await asyncio.sleep(0.01)
    time.sleep(1.0)  # noqa: ASYNC251  (the turn is long)
    await asyncio.sleep(0.01)
    seconds = lag.seconds
    lag.stop()

    assert seconds < 0.9


async def test_many_long_turns_are_lag() -> None:
    """The lag is that of the shortest of the last turns."""
    lag = LoopLag()
    lag.start()
    for _ in range(20):
        await asyncio.sleep(0)
        time.sleep(0.15)  # noqa: ASYNC251  (the turn is long)
    await asyncio.sleep(0)
    seconds = lag.seconds
    lag.stop()

    assert seconds >= 0.05
