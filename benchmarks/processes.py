"""Gain of several serving processes, and how it goes on to 64.

One process and two are loaded in turns with single calls over many connections. The load comes
from the same machine and takes a share of its processors, so that two figures are told: what
came through, and what the servers would do with all processors, from the processor time of
each call. Beyond the processors of the machine, connections are given to processes at random,
as the system does it, in a simulation.

    python benchmarks/processes.py [--quick] [--report FOLDER]
"""

import random
import resource
import statistics
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import grpc
from load import Work, run_load
from load_calls import SERVER, all_calls
from report import Claim, Effort, Section, Table, format_summary, run
from servers import Running, sidecheck
from sidecheck import BlockingClient
from subjects import own_tool
from turns import Rounds, take_turns

__all__ = ["even_share", "measure"]

_ONE, _TWO = "1 process", "2 processes"
_LEAST_GAIN = 1.7
_CONNECTIONS, _IN_FLIGHT = 32, 8
_PROCESSORS = 2

_TEXT = (
    "h2load makes single calls over 32 connections, 8 at once on each, and runs on the same "
    "processors. Time of the processor is that of all serving processes for a call, and of h2load. "
    "With the processors for themselves, processes would answer as many calls as their time of the "
    "processor allows: that is the last column."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Figures of one load."""

    #: Of calls in a second.
    rate: float
    #: Microseconds of processors for a call: of the servers, and of the load.
    servers: float
    load: float


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    rounds, seconds = effort.choose((11, 2.0), (1, 0.3))
    subject = own_tool("git_log")
    turns: dict[str, Callable[[], Turn]] = {}
    with ExitStack() as stack:
        for name, count in ((_ONE, 1), (_TWO, 2)):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            server = stack.enter_context(sidecheck(folder, "--processes", str(count)))
            with BlockingClient(server.tcp) as client:
                client.register(SERVER, [subject.definition])
            with grpc.insecure_channel(server.tcp) as channel:
                call, _ = next(iter(all_calls(channel, subject, quick=True)))
            turns[name] = _loading(server, call.work, seconds)
        found = take_turns(turns, rounds)
    rates = Rounds({name: [turn.rate for turn in each] for name, each in found.items()})
    times = Rounds({name: [turn.servers for turn in each] for name, each in found.items()})
    loads = Rounds({name: [turn.load for turn in each] for name, each in found.items()})
    alone = Rounds(
        {
            _ONE: [1e6 / turn.servers for turn in found[_ONE]],
            _TWO: [_PROCESSORS * 1e6 / turn.servers for turn in found[_TWO]],
        }
    )
    rows = [
        [name, *(format_summary(each.of(name)) for each in (rates, times, loads, alone))]
        for name in (_ONE, _TWO)
    ]
    ratios = (each.ratio(_TWO, _ONE) for each in (rates, times, loads, alone))
    rows.append(["ratio", *map(format_summary, ratios)])
    gain = alone.ratio(_TWO, _ONE).median
    claim = Claim(
        "two processes answer more calls than one, with the processors for themselves",
        f"{_LEAST_GAIN} times as many at least",
        f"{gain:.2f} times ({rates.ratio(_TWO, _ONE).median:.2f} beside the load)",
        gain >= _LEAST_GAIN,
    )
    head = ["", "calls/s", "servers, µs/call", "load, µs/call", "calls/s without the load"]
    measured = Table(f"Single calls ({rounds} rounds)", head, rows)
    return Section(
        "processes",
        "Several processes",
        _TEXT,
        [measured, _simulated(effort.choose(2000, 50))],
        [claim],
    )


def _loading(server: Running, work: Work, seconds: float) -> Callable[[], Turn]:
    """Return a turn of about *seconds*."""

    def load(calls: int) -> float:
        done = run_load(server.tcp, work, calls, connections=_CONNECTIONS, in_flight=_IN_FLIGHT)
        return done.calls / done.seconds

    # gRPC takes some calls to be as fast as it gets.
    load(4 * _CONNECTIONS * _IN_FLIGHT)
    calls = max(4 * _CONNECTIONS * _IN_FLIGHT, int(load(2000) * seconds))

    def turn() -> Turn:
        served, loaded = server.processor_seconds(), _children_seconds()
        rate = load(calls)
        served, loaded = server.processor_seconds() - served, _children_seconds() - loaded
        return Turn(rate, max(served, 0.01) * 1e6 / calls, max(loaded, 0.01) * 1e6 / calls)

    return turn


def _children_seconds() -> float:
    """Return the processor time of the children that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _simulated(trials: int) -> Table:
    """Return how evenly connections that are given at random use processes."""
    each = (4, 16, 64, 256)
    generator = random.Random(0)  # noqa: S311 - a simulation
    rows = []
    for processes in (2, 4, 8, 16, 32, 64):
        shares = [even_share(processes, processes * n, trials, generator) for n in each]
        rows.append([str(processes), *(f"{share:.2f}" for share in shares)])
    head = ["processes", *(f"{n} connections for each" for n in each)]
    caption = "Share of all processes' calls that is served before the busiest of them is full"
    return Table(f"{caption} (simulation, median of {trials:,})", head, rows)


def even_share(processes: int, connections: int, trials: int, generator: random.Random) -> float:
    """Return the median of the mean load of a process over the largest.

    Each of *connections* has the same load, and is given to one of *processes* at random.
    """
    shares = []
    for _ in range(trials):
        loads = [0] * processes
        for _ in range(connections):
            loads[generator.randrange(processes)] += 1
        shares.append(connections / processes / max(loads))
    return statistics.median(shares)


if __name__ == "__main__":
    run(measure, __doc__)
