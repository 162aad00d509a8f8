"""Tasks of the pool of processes: what ends them, and what ends their processes."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from sidecheck_server.workers.events import EndCause, WorkerDied, WorkerEvent, WorkerRestarted
from sidecheck_server.workers.pool import (
    NoWorkerError,
    WorkerCrashedError,
    WorkerStalledError,
    WorkerTimeoutError,
)
from support.running_pool import PATIENCE, running_pool
from support.worker_processes import worker_processes


def _wait_for_end(worker: psutil.Process) -> None:
    while psutil.pid_exists(worker.pid):
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("seconds", "function", "arguments", "expected", "event"),
    [
        pytest.param(PATIENCE, int, ("12",), 12, None, id="a result"),
        pytest.param(PATIENCE, bytes, (5_000_000,), bytes(5_000_000), None, id="a large result"),
        pytest.param(PATIENCE, len, (bytes(5_000_000),), 5_000_000, None, id="a large task"),
        pytest.param(PATIENCE, int, ("x",), ValueError, None, id="an exception"),
        pytest.param(PATIENCE, time.sleep, (0,), None, None, id="nothing"),
        pytest.param(PATIENCE, open, (os.devnull,), TypeError, None, id="a result of no bytes"),
        pytest.param(PATIENCE, bytes, (1 << 40,), MemoryError, None, id="memory for the task"),
        pytest.param(PATIENCE, bytes, (80 << 20,), MemoryError, None, id="memory for the result"),
        pytest.param(
            PATIENCE,
            len,
            (bytes(200 << 20),),
            MemoryError,
            WorkerDied(EndCause.MEMORY, "exit code 100", False, 0),
            id="memory for receiving the task",
        ),
        pytest.param(
            0.5,
            sum,
            (range(10**15),),
            WorkerTimeoutError,
            WorkerDied(EndCause.TIME, "SIGPROF", False, 0),
            id="time of a processor, in C code",
        ),
        pytest.param(
            0.2,
            time.sleep,
            (3600,),
            WorkerStalledError,
            WorkerDied(EndCause.STALLED, "SIGKILL", False, 0),
            id="time of a clock",
        ),
        pytest.param(0.5, time.sleep, (1,), None, None, id="longer, without a processor"),
        pytest.param(
            PATIENCE,
            os._exit,
            (3,),
            WorkerCrashedError,
            WorkerDied(EndCause.CRASH, "exit code 3", False, 0),
            id="an exit",
        ),
        pytest.param(
            PATIENCE,
            signal.raise_signal,
            (signal.SIGSEGV,),
            WorkerCrashedError,
            WorkerDied(EndCause.CRASH, "SIGSEGV", False, 0),
            id="a signal",
        ),
    ],
)
async def test_the_outcome_of_a_task(
    seconds: float,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    expected: Any,
    event: WorkerEvent | None,
) -> None:
    """It causes an event, and the next task succeeds."""
    async with running_pool(1) as pool:
        outcome = await pool.outcome(seconds, function, *arguments)
        after = await pool.outcome(PATIENCE, int, "1")
        events = pool.events

    assert (expected, 1) == (outcome, after)
    assert ([] if event is None else [event, WorkerRestarted(1)]) == events


async def test_an_event_loop_that_makes_descriptors_non_blocking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """uvloop does so; tasks succeed, and an idle process that dies is replaced."""
    loop = asyncio.get_running_loop()
    add_reader = loop.add_reader

    def add(descriptor: int, callback: Callable[..., Any], *arguments: Any) -> None:
        os.set_blocking(descriptor, False)
        add_reader(descriptor, callback, *arguments)

    monkeypatch.setattr(loop, "add_reader", add)
    async with running_pool(1) as pool:
        outcomes = [await pool.outcome(PATIENCE, int, str(number)) for number in range(3)]
        [worker] = worker_processes()
        worker.kill()
        events = await pool.next_events(2)

    assert [0, 1, 2] == outcomes
    assert [WorkerDied(EndCause.CRASH, "SIGKILL", True, 0), WorkerRestarted(1)] == events


@pytest.mark.slow
async def test_a_process_ends_in_time_without_its_server() -> None:
    """The system kills it, here because the event loop does nothing in time."""
    async with running_pool(1) as pool:
        [worker] = worker_processes()
        outcome = asyncio.create_task(pool.outcome(1, sum, range(10**15)))
        await asyncio.sleep(0.5)
        _wait_for_end(worker)  # blocks the loop
        result = await outcome

    assert WorkerTimeoutError is result
    assert WorkerDied(EndCause.TIME, "SIGPROF", False, 0) == pool.events[0]


async def test_a_task_moves_on_from_a_process_that_is_stopped() -> None:
    """It was not received, so another process can do it; the stopped one is replaced."""
    async with running_pool(2) as pool:
        [first, _] = worker_processes()
        first.suspend()
        outcomes = await asyncio.gather(*(pool.outcome(1, int, str(n)) for n in range(10)))
        events = await pool.next_events(2)

    assert list(range(10)) == outcomes
    assert [
        WorkerDied(EndCause.UNRESPONSIVE, "SIGKILL", False, 1),
        WorkerRestarted(2),
    ] == events


async def test_a_task_that_two_processes_did_not_receive_fails() -> None:
    """No task waits forever for stopped processes."""
    async with running_pool(2) as pool:
        for worker in worker_processes():
            worker.suspend()
        outcomes = await asyncio.gather(*(pool.outcome(1, int, "1") for _ in range(2)))
        after = await pool.outcome(PATIENCE, int, "1")

    assert [NoWorkerError] * 2 == outcomes or 1 in outcomes
    assert 1 == after


async def test_a_large_task_for_a_stopped_process_does_not_block_the_loop() -> None:
    """A thread waits until the process takes it, or is killed."""
    async with running_pool(1) as pool:
        [worker] = worker_processes()
        worker.suspend()
        task = asyncio.create_task(pool.outcome(2, len, bytes(50_000_000)))
        turns = 0
        while not pool.events:
            await asyncio.sleep(0.01)
            turns += 1
        result = await task

    assert turns > 10
    assert 50_000_000 == result
