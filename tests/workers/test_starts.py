"""Processes of the pool: their deaths, their starts, and the close of the pool."""

import asyncio
import os
import resource
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
from sidecheck_server.workers.events import (
    EndCause,
    WorkerDied,
    WorkerRestarted,
    WorkerStartError,
    WorkerStartFailed,
)
from sidecheck_server.workers.pool import NoWorkerError, WorkerCrashedError
from support.running_pool import PATIENCE, RunningPool, running_pool
from support.worker_processes import kill, worker_processes


async def test_an_idle_process_that_dies_is_replaced_at_once() -> None:
    """No task is needed to notice it."""
    async with running_pool(2) as pool:
        kill(worker_processes()[:1])
        events = await pool.next_events(2)
        count = len(worker_processes())

    assert [WorkerDied(EndCause.CRASH, "SIGKILL", True, 1), WorkerRestarted(2)] == events
    assert 2 == count


async def test_tasks_fail_while_no_process_can_be_started() -> None:
    """Waiting tasks fail after a while, later ones at once; starts are retried with backoff."""
    async with running_pool(1, wait_seconds=1) as pool:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        [worker] = worker_processes()
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            os.kill(worker.pid, signal.SIGKILL)
            events = await pool.next_events(4)
            waiting = await pool.outcome(PATIENCE, int, "1")
            at_once = await pool.outcome(PATIENCE, int, "1")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        while pool.pool.alive == 0:
            await pool.next_events(1)
        after = await pool.outcome(PATIENCE, int, "1")

    assert [
        WorkerDied(EndCause.CRASH, "SIGKILL", True, 0),
        *(
            WorkerStartFailed(EndCause.SYSTEM, "Too many open files", pause, 0)
            for pause in (0.1, 0.2, 0.4)
        ),
    ] == events
    assert (NoWorkerError, NoWorkerError, 1) == (waiting, at_once, after)


@pytest.mark.parametrize(
    ("prepare", "argument", "cause", "message"),
    [
        pytest.param(
            os._exit, 3, EndCause.CRASH, "no worker process can start: exit code 3", id="exit"
        ),
        pytest.param(
            signal.raise_signal,
            9,
            EndCause.CRASH,
            "no worker process can start: SIGKILL",
            id="signal",
        ),
        pytest.param(
            bytes,
            1 << 50,
            EndCause.MEMORY,
            "no worker process can start: limits.worker_bytes is too small",
            id="memory",
        ),
    ],
)
async def test_processes_that_do_not_start(
    prepare: Callable[[int], Any], argument: int, cause: EndCause, message: str
) -> None:
    """The pool says why, when each has tried once."""
    pool = RunningPool(2, prepare=prepare, argument=argument)
    with pytest.raises(WorkerStartError) as raised:
        await asyncio.wait_for(pool.pool.wait_until_ready(), PATIENCE)
    pool.pool.close()

    assert (cause, message) == (raised.value.cause, str(raised.value))
    assert [] == worker_processes()


def use_processor(seconds: int) -> None:
    """Use *seconds* of processor time."""
    while time.process_time() < seconds:
        pass


@pytest.mark.parametrize(
    ("prepare", "argument", "outcome"),
    [
        pytest.param(use_processor, 3, 1, id="a start that makes progress"),
        pytest.param(time.sleep, 3600, NoWorkerError, id="a start that hangs"),
        pytest.param(os._exit, 3, NoWorkerError, id="a start that fails"),
    ],
)
async def test_the_first_task_starts_a_process_on_demand(
    prepare: Callable[[int], Any], argument: int, outcome: Any
) -> None:
    """It waits for longer than the limit while the start uses a processor."""
    pool = RunningPool(1, prepare=prepare, argument=argument, wait_seconds=1, on_demand=True)
    await asyncio.sleep(0)
    before = worker_processes()
    result = await pool.outcome(PATIENCE, int, "1")
    pool.pool.close()

    assert ([], outcome, []) == (before, result, worker_processes())


async def test_closing_kills_stopped_and_busy_processes() -> None:
    """They are killed at once, and their tasks fail."""
    async with running_pool(3) as pool:
        tasks = [asyncio.create_task(pool.outcome(PATIENCE, time.sleep, 3600)) for _ in range(3)]
        await asyncio.sleep(0.1)
        for worker in worker_processes()[:2]:
            worker.suspend()
        pool.pool.close()
        left = worker_processes()
        outcomes = await asyncio.gather(*tasks)

    assert ([], [WorkerCrashedError] * 3) == (left, outcomes)


async def test_closing_while_processes_start_leaves_none() -> None:
    """A process may start at the same moment."""
    for turns in range(5):
        pool = RunningPool(2)
        for _ in range(turns):
            await asyncio.sleep(0.005)
        pool.pool.close()

        assert [] == worker_processes()
