"""Load program of the Python client: single validations, concurrent or one after the other.

MODE is ``unary``, ``coalesced``, ``lone`` or ``lone-coalesced``; a lone caller ignores CALLERS
and makes one call after the other. Validates the file that SIDECHECK_BENCH_ARGUMENTS names
against the registered tool `git_log` of the server `bench`, and prints a line of JSON.

    python benchmarks/programs/coalescing_client.py ADDRESS MODE CALLERS SECONDS
"""

import asyncio
import json
import os
import statistics
import sys
import time
from pathlib import Path

from sidecheck import Client, RegisteredTool

__all__ = ["main"]


async def _load(address: str, mode: str, callers: int, seconds: float, arguments: bytes) -> str:
    tool = RegisteredTool("bench", "git_log")
    microseconds: list[float] = []

    async def call_until(end: float) -> None:
        while (started := time.perf_counter()) < end:
            verdict = await client.validate(tool, arguments)
            if not verdict.valid:
                raise AssertionError(f"unexpected violations: {verdict.violations}")
            microseconds.append(1e6 * (time.perf_counter() - started))

    async with Client(address, timeout=30, coalesce=mode.endswith("coalesced")) as client:
        await client.validate(tool, arguments)
        started = time.perf_counter()
        count = 1 if mode.startswith("lone") else callers
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(call_until(started + seconds))
        elapsed = time.perf_counter() - started
    return json.dumps(
        {
            "calls": len(microseconds),
            "seconds": elapsed,
            "p50_microseconds": statistics.median(microseconds),
        }
    )


def main() -> None:
    """Make the calls."""
    address, mode, callers, seconds = sys.argv[1:]
    arguments = Path(os.environ["SIDECHECK_BENCH_ARGUMENTS"]).read_bytes()
    print(asyncio.run(_load(address, mode, int(callers), float(seconds), arguments)))


if __name__ == "__main__":
    main()
