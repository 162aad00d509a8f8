"""Runs tasks in a pool of one process; prints their outcomes, and the events of the pool."""

import asyncio

from sidecheck_server.workers.operating_system import OUT_OF_TIME
from support.running_pool import PATIENCE, running_pool
from support.worker_processes import kill, worker_processes


async def main() -> None:
    """Run a task, one that takes too long, and kill the process that is idle."""
    async with running_pool(1) as pool:
        print(await pool.outcome(PATIENCE, int, "12"))
        print((await pool.outcome(0.5, sum, range(10**15))).__name__)
        for event in await pool.next_events(2):
            print(event)
        print(await pool.outcome(PATIENCE, int, "13"))
        kill(worker_processes())
        for event in await pool.next_events(2):
            print(event)
    print(OUT_OF_TIME)


if __name__ == "__main__":
    asyncio.run(main())
