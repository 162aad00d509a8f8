"""Overload: three times the capacity of the server, in an open loop.

A Go program makes the calls at scheduled times, whether or not earlier ones have ended, with the
retry policy of Sidecheck's clients, and measures the capacity before and after. Concurrently, and
for ten seconds longer, a bystander with a connection of its own makes 100 calls a second, and a
third client checks health.

    python benchmarks/overload.py [--quick] [--report FOLDER] [--seconds N]
        [--connections N ...] [--deadlines TIME ...]
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from harness.report import Claim, Effort, MissingRequirement, Section, Table, run
from harness.servers import RunningServer, sidecheck
from harness.validation_calls import prepare_single_call

__all__ = ["add_options", "measure"]

_PROGRAM = Path(__file__).resolve().parent / "open_loop"
_HEALTH = "/grpc.health.v1.Health/Check"
_OVERLOAD = 3.0
"""Rate of the calls, in multiples of the capacity."""
_DEADLINES = ("50ms", "100ms", "500ms", "1s", "0s")
"""Deadlines of the calls; 0s is none."""
_CONNECTIONS = (4, 10, 20, 50)
_QUICK_DEADLINES = ("100ms", "500ms", "0s")
_MIN_SHARE_OF_CAPACITY = 0.8
_RECOVERY_SECONDS = 5
_BYSTANDER_RATE = 100
_MAX_BYTES = 100 << 20
_TEXT = (
    "The capacity is the rate of 64 callers that make one call after the other, over the same "
    "number of connections, before and after each load. Goodput counts the calls that "
    "succeed before their deadline. Where the system allows it, the server has the first "
    "processor and the callers have the others: a caller at three times the rate would otherwise "
    "take processor time from the server."
)


@dataclass(frozen=True, slots=True)
class Load:
    """Calls to make, as flags of the program."""

    address: str
    path: str
    body: Path | None
    seconds: float

    def start(self, program: Path, **flags: str | float) -> "subprocess.Popen[str]":
        """Start the program."""
        options = {
            "address": self.address,
            "path": self.path,
            "seconds": f"{self.seconds}s",
            **flags,
        }
        if self.body is not None:
            options["body"] = str(self.body)
        command = [str(program), *(f"-{name}={value}" for name, value in options.items())]
        process = subprocess.Popen(  # noqa: S603  (our own command)
            command, stdout=subprocess.PIPE, text=True
        )
        _use_processors(process.pid, slice(1, None))
        return process


@dataclass(frozen=True, slots=True)
class Overload:
    """Outcome of a load, by number of connections and deadline."""

    connections: int
    deadline: str
    capacity: float
    goodput: float
    #: Results of the program for the calls, the bystander and the health checks.
    calls: dict[str, Any]
    bystander: dict[str, Any]
    health: dict[str, Any]
    #: Seconds from the end of the load until the bystander's calls are fast; None if never.
    recovery: int | None
    #: Growth of the server's resident memory at its peak, in bytes.
    growth: int


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    parser.add_argument(
        "--connections",
        type=int,
        nargs="+",
        default=_CONNECTIONS,
        help="number of the callers' connections",
    )
    parser.add_argument(
        "--deadlines",
        nargs="+",
        default=_DEADLINES,
        help="deadlines of the calls, such as 100ms; 0s for none",
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="duration of each load")


def measure(effort: Effort) -> Section:
    """Measure and return the section.

    Raises:
        MissingRequirement: Go is not on PATH.
    """
    if shutil.which("go") is None:
        raise MissingRequirement("the load generator needs go on PATH")
    arguments = effort.arguments
    seconds, afterwards = effort.choose((arguments.seconds, 10.0), (1.0, 2.0))
    connection_counts, deadlines = effort.choose(
        (arguments.connections, arguments.deadlines), (_CONNECTIONS[:1], _QUICK_DEADLINES)
    )
    with tempfile.TemporaryDirectory() as name, sidecheck(Path(name)) as server:
        for process in (server.process, *server.process.children()):
            _use_processors(process.pid, slice(1))
        folder = Path(name)
        program = folder / "open_loop"
        build = ["go", "build", "-o", str(program), "."]
        subprocess.run(build, cwd=_PROGRAM, check=True)  # noqa: S603  (our own command)
        body = folder / "body"
        work = prepare_single_call(server.tcp)
        body.write_bytes(work.messages[0])
        load = Load(server.tcp, work.path, body, seconds)
        overloads = [
            _overload(server, program, load, deadline, connections, afterwards)
            for connections in connection_counts
            for deadline in deadlines
        ]
    return Section(
        "overload",
        "Overload",
        _TEXT,
        [_table(overloads, seconds), _statuses_table(overloads)],
        [claim for overload in overloads for claim in _claims(overload)],
    )


def _use_processors(process: int, share: slice) -> None:
    """Restrict *process* to a *share* of the processors, if there are several."""
    if hasattr(os, "sched_setaffinity"):
        processors = sorted(os.sched_getaffinity(0))
        for thread in psutil.Process(process).threads():
            os.sched_setaffinity(thread.id, processors[share] or processors)


def _overload(
    server: RunningServer,
    program: Path,
    load: Load,
    deadline: str,
    connections: int,
    afterwards: float,
) -> Overload:
    before = _capacity(program, load, connections)
    memory = server.resident_bytes()
    longer = Load(load.address, load.path, load.body, load.seconds + afterwards)
    bystander = longer.start(program, rate=_BYSTANDER_RATE)
    health = Load(load.address, _HEALTH, None, longer.seconds).start(
        program, rate=10, deadline="1s"
    )
    callers = load.start(
        program, rate=_OVERLOAD * before, deadline=deadline, connections=connections
    )
    peak = memory
    while bystander.poll() is None:
        peak = max(peak, server.resident_bytes())
        try:
            bystander.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            continue
    calls, bystander_result, health_result = map(_result, (callers, bystander, health))
    capacity = statistics.mean([before, _capacity(program, load, connections)])
    goodput = sum(calls["in_time"][: int(load.seconds)]) / load.seconds
    return Overload(
        connections,
        deadline,
        capacity,
        goodput,
        calls,
        bystander_result,
        health_result,
        _recovery(bystander_result["second_p99"], int(load.seconds)),
        peak - memory,
    )


def _capacity(program: Path, load: Load, connections: int) -> float:
    seconds = min(10.0, load.seconds)
    timed = Load(load.address, load.path, load.body, seconds)
    result = _result(timed.start(program, callers=64, connections=connections))
    return float(sum(result["in_time"]) / result["seconds"])


def _result(process: "subprocess.Popen[str]") -> dict[str, Any]:
    output, _ = process.communicate()
    if process.returncode:
        raise AssertionError("the load generator failed")
    result: dict[str, Any] = json.loads(output)
    return result


def _recovery(seconds: list[float], load_seconds: int) -> int | None:
    """Return the seconds from the end of the load until calls stay fast.

    *seconds* holds the p99 of each second in milliseconds. Fast is within 20 ms, or within twice
    the p99 of the last second.
    """
    after_load = seconds[load_seconds:]
    max_fast = max(20.0, 2 * after_load[-1])
    for second in range(len(after_load)):
        if all(time <= max_fast for time in after_load[second:]):
            return second
    return None


def _table(overloads: list[Overload], seconds: float) -> Table:
    head = [
        "connections",
        "deadline",
        "capacity, calls/s",
        "goodput, calls/s",
        "of capacity",
        "p50, ms",
        "p99, ms",
        "bystander p50, ms",
        "p99, ms",
        "max, ms",
        "memory, MB",
        "recovery, s",
    ]
    rows = [
        [
            str(overload.connections),
            overload.deadline,
            f"{overload.capacity:,.0f}",
            f"{overload.goodput:,.0f}",
            f"{overload.goodput / overload.capacity:.2f}",
            *(f"{overload.calls[name]:,.0f}" for name in ("p50", "p99")),
            *(f"{overload.bystander[name]:,.0f}" for name in ("p50", "p99", "max")),
            f"+{overload.growth / 1e6:.0f}",
            str(overload.recovery),
        ]
        for overload in overloads
    ]
    return Table(f"{_OVERLOAD:g} times the capacity for {seconds:g} s", head, rows)


def _statuses_table(overloads: list[Overload]) -> Table:
    rows = [
        [
            str(overload.connections),
            overload.deadline,
            _list_statuses(overload.calls),
            _list_statuses(overload.bystander),
            _list_statuses(overload.health),
        ]
        for overload in overloads
    ]
    return Table(
        "How the calls ended", ["connections", "deadline", "callers", "bystander", "health"], rows
    )


def _list_statuses(result: dict[str, Any]) -> str:
    counts = {
        **result["statuses"],
        "abandoned": result["abandoned"],
        "not made": result["not_made"],
    }
    return ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)


def _claims(overload: Overload) -> list[Claim]:
    share = overload.goodput / overload.capacity
    deadline = f"deadline {overload.deadline}" if overload.deadline != "0s" else "no deadline"
    name = f"{overload.connections} connections, {deadline}"
    results = (overload.calls, overload.bystander, overload.health)
    cancelled = sum(result["statuses"].get("Canceled", 0) for result in results)
    unhealthy = {status for status in overload.health["statuses"] if status != "OK"}
    recovery = overload.recovery
    return [
        Claim(
            f"goodput, {name}",
            f"at least {_MIN_SHARE_OF_CAPACITY:.0%} of capacity",
            f"{share:.0%}",
            share >= _MIN_SHARE_OF_CAPACITY,
        ),
        Claim(f"cancelled calls, {name}", "0", f"{cancelled:,}", not cancelled),
        Claim(
            f"memory, {name}",
            f"at most {_MAX_BYTES >> 20} MiB more",
            f"{overload.growth >> 20} MiB",
            overload.growth <= _MAX_BYTES,
        ),
        Claim(
            f"recovery, {name}",
            f"within {_RECOVERY_SECONDS} s",
            f"{recovery} s",
            recovery is not None and recovery <= _RECOVERY_SECONDS,
        ),
        Claim(f"health, {name}", "answers", _list_statuses(overload.health), not unhealthy),
    ]


if __name__ == "__main__":
    run(measure, __doc__, add_options)
