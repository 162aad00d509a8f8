"""Cost of a call to the server, against a bare gRPC server, and gain of several processes.

Unary calls, batches and streams, over TCP and a unix socket, in turns with a server that
responds with the same bytes without reading the request. The cost of an item of a batch, against
messages, decoding and validation alone, which every server needs. A server of one process and one
of two, in turns with single calls over many connections. Beyond the processors of the machine, a
simulation assigns connections to processes at random, as the system does. Load comes from h2load
if it is installed, otherwise from gRPC's Python client.

    python benchmarks/serving.py [--quick] [--report FOLDER] [--callers]
"""

import argparse
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import grpc
from harness.load import Load, LoadShape, LoadTurn, Work, has_h2load, make_load_turn, run_load
from harness.plots import plot_bars
from harness.report import Claim, Effort, Section, Table, format_summary, run
from harness.servers import RunningServer, echo, sidecheck
from harness.subjects import own_tool
from harness.turns import Rounds, make_turn, summarize, take_turns
from harness.validation_calls import SERVER, Call, all_calls, make_call, prepare_single_call
from sidecheck import BlockingClient

__all__ = ["add_options", "measure"]

_SIDECHECK, _BARE, _FLOOR = "Sidecheck", "bare server", "floor"
_MIN_RATIO_TO_BARE = 0.85
_MAX_RATIO_TO_FLOOR = 1.5
_PERCENTS = (50, 90, 99)

_ONE_PROCESS, _TWO_PROCESSES = "1 process", "2 processes"
_MIN_GAIN = 1.7
_PROCESSORS = 2

_TEXT = (
    "Both servers run at once, each in a process of its own with its default settings, and "
    "get the same requests in turns; the bare one responds with the same bytes as Sidecheck. The "
    "payload is a valid one of `git_log` (136 bytes). The size of the responses of every load is "
    "checked, a call of a real client before and after has the expected response, and the "
    "server's log is searched for errors. Processor time is that of the whole server process, "
    "including gRPC's threads, from `psutil`. The floor of a batch is measured in one process in "
    "the same rounds: read the request, decode and validate every payload, build and serialize "
    "the response. With several processes, 32 connections make single calls, 8 at once on each; "
    "the load generator uses the same processors. The last column is the rate that the processor "
    "time of the servers would allow if they had both processors alone."
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Rounds of one kind of call."""

    call: Call
    rates: Rounds
    processor: Rounds


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    parser.add_argument(
        "--callers", action="store_true", help="make calls with gRPC's Python client, not h2load"
    )


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    callers = effort.arguments.callers or not has_h2load()
    with tempfile.TemporaryDirectory() as folder, sidecheck(Path(folder)) as server:
        subject = own_tool("git_log")
        with BlockingClient(server.address("unix")) as client:
            client.register(SERVER, [subject.definition])
        with grpc.insecure_channel(server.address("unix")) as channel:
            calls = list(all_calls(channel, subject, quick=effort.quick, callers=callers))
            measurements = [
                _compare(effort, folder, server, call, response) for call, response in calls
            ]
            latencies = [] if callers else [_latency_table(effort, folder, server, *calls[0])]
            for call, response in calls:
                if call.title != "stream" and make_call(channel, call.work) != response:
                    raise AssertionError(f"the response to {call.title} has changed")
    processes, processes_claim = _compare_processes(effort, callers=callers)
    if effort.folder is not None:
        _plot(effort.folder, measurements)
    load = "gRPC's Python client in 2 processes" if callers else "h2load"
    note = "" if has_h2load() else " Without h2load, latency at a fixed rate is not measured."
    return Section(
        "serving",
        "Serving, against a bare gRPC server",
        f"{_TEXT} Load: {load}.{note}",
        [
            _table(measurements),
            _floor_table(measurements),
            *latencies,
            processes,
            _simulation_table(effort.choose(2000, 50)),
        ],
        [*_claims(measurements), processes_claim],
        [("serving.svg", "Processor time for a payload, by kind of call")],
    )


# Against a bare server


def _compare(
    effort: Effort, folder: str, server: RunningServer, call: Call, response: bytes
) -> Measurement:
    rounds, seconds = effort.choose((15, 0.4), (1 if call.shape.callers else 2, 0.0))
    bare_work = call.work
    if call.title == "stream":
        count = len(call.work.messages)
        bare_work = Work(call.work.path, call.work.messages, count * len(response), count)
    bare_folder = Path(tempfile.mkdtemp(dir=folder))
    with echo(bare_folder, {call.work.path: response}) as bare:
        turns: dict[str, Callable[[], LoadTurn]] = {
            name: make_load_turn(
                running, call.transport, work, call.shape, seconds=seconds, payloads=call.items
            )
            for name, running, work in (
                (_SIDECHECK, server, call.work),
                (_BARE, bare, bare_work),
            )
        }
        if call.floor is not None:
            time_floor = make_turn(call.floor, call.work.messages[0], seconds / 4)
            turns[_FLOOR] = lambda: LoadTurn(0.0, time_floor() * 1e6 / call.items, 0.0)
        results = take_turns(turns, rounds)
    return Measurement(
        call, Rounds.of_attribute(results, "rate"), Rounds.of_attribute(results, "server")
    )


def _latency_table(
    effort: Effort, folder: str, server: RunningServer, call: Call, response: bytes
) -> Table:
    """Return the latency of single calls at a fixed rate."""
    rounds, calls, rate = effort.choose((7, 2000, 1000), (2, 100, 500))
    rows = []
    with echo(Path(tempfile.mkdtemp(dir=folder)), {call.work.path: response}) as bare:
        for transport in ("unix", "tcp"):
            turns = {
                name: _paced_turn(running.address(transport), call.work, calls, rate)
                for name, running in ((_SIDECHECK, server), (_BARE, bare))
            }
            for name, loads in take_turns(turns, rounds).items():
                cells = (
                    format_summary(summarize(_percentile(load, percent) for load in loads))
                    for percent in _PERCENTS
                )
                rows.append([f"{name}, {transport}", *cells])
    head = ["server", *(f"{percent} %, ms" for percent in _PERCENTS)]
    caption = f"Latency of single calls at {rate:,} per second ({rounds} rounds of {calls:,})"
    return Table(caption, head, rows)


def _paced_turn(address: str, work: Work, calls: int, rate: int) -> Callable[[], Load]:
    return lambda: run_load(address, work, calls, LoadShape(per_second=rate))


def _percentile(load: Load, percent: int) -> float:
    ordered = sorted(load.milliseconds)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def _table(measurements: list[Measurement]) -> Table:
    rows = [
        [
            f"{measurement.call.title}, {measurement.call.transport}",
            format_summary(measurement.rates.of(_SIDECHECK)),
            format_summary(measurement.rates.of(_BARE)),
            format_summary(measurement.rates.ratio(_SIDECHECK, _BARE)),
            format_summary(measurement.processor.of(_SIDECHECK)),
            format_summary(measurement.processor.of(_BARE)),
            format_summary(measurement.processor.ratio(_SIDECHECK, _BARE)),
        ]
        for measurement in measurements
    ]
    head = [
        "calls",
        "payloads/s",
        "bare server",
        "ratio",
        "processor, µs/payload",
        "bare server, µs",
        "ratio, x",
    ]
    n = measurements[0].rates.of(_SIDECHECK).n
    return Table(f"At the highest rate ({n} rounds)", head, rows)


def _floor_table(measurements: list[Measurement]) -> Table:
    rows = [
        [
            measurement.call.title,
            format_summary(measurement.processor.of(_SIDECHECK)),
            format_summary(measurement.processor.of(_FLOOR)),
            format_summary(measurement.processor.ratio(_SIDECHECK, _FLOOR)),
        ]
        for measurement in measurements
        if measurement.call.floor is not None
    ]
    head = ["calls", "server's processor, µs/payload", "floor, µs/payload", "ratio, x"]
    return Table("Batches against messages, decoding and validation alone", head, rows)


def _claims(measurements: list[Measurement]) -> Iterator[Claim]:
    for measurement in measurements:
        call, processor = measurement.call, measurement.processor
        if call.title == "one":
            ratio = measurement.rates.ratio(_SIDECHECK, _BARE).median
            processor_ratio = processor.ratio(_SIDECHECK, _BARE).median
            yield Claim(
                f"single calls are near a bare gRPC server ({call.transport})",
                f"{_MIN_RATIO_TO_BARE} of its calls per second at least",
                f"{ratio:.2f} (with {processor_ratio:.2f} times the processor time)",
                ratio >= _MIN_RATIO_TO_BARE,
            )
        if call.items == 256 and call.floor is not None:
            ratio = processor.ratio(_SIDECHECK, _FLOOR).median
            yield Claim(
                "a batch of 256 is near messages, decoding and validation alone",
                f"{_MAX_RATIO_TO_FLOOR} times that at most, for a payload",
                f"{ratio:.2f}",
                ratio <= _MAX_RATIO_TO_FLOOR,
            )


def _plot(folder: Path, measurements: list[Measurement]) -> None:
    plot_bars(
        folder / "serving.svg",
        "Time of the server's processor for one payload",
        "microseconds: median and quartiles of the rounds",
        {
            f"{measurement.call.title}, {measurement.call.transport}": {
                name: measurement.processor.of(name) for name in measurement.processor.figures
            }
            for measurement in measurements
        },
        begin=0.1,
    )


# Several processes


def _compare_processes(effort: Effort, *, callers: bool) -> tuple[Table, Claim]:
    rounds, seconds = effort.choose((11, 2.0), (1, 0.0))
    shape = LoadShape(32, 8, callers=callers)
    turns: dict[str, Callable[[], LoadTurn]] = {}
    with ExitStack() as stack:
        for name, count in ((_ONE_PROCESS, 1), (_TWO_PROCESSES, 2)):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            server = stack.enter_context(sidecheck(folder, "--processes", str(count)))
            work = prepare_single_call(server.tcp)
            turns[name] = make_load_turn(server, "tcp", work, shape, seconds=seconds)
        results = take_turns(turns, rounds)
    rates, servers, generators = (
        Rounds.of_attribute(results, attribute) for attribute in ("rate", "server", "generator")
    )
    # A process uses one processor, two use both.
    possible = Rounds(
        {
            _ONE_PROCESS: [1e6 / time for time in servers.figures[_ONE_PROCESS]],
            _TWO_PROCESSES: [_PROCESSORS * 1e6 / time for time in servers.figures[_TWO_PROCESSES]],
        }
    )
    columns = (rates, servers, generators, possible)
    rows = [
        [name, *(format_summary(column.of(name)) for column in columns)]
        for name in (_ONE_PROCESS, _TWO_PROCESSES)
    ]
    ratios = [column.ratio(_TWO_PROCESSES, _ONE_PROCESS) for column in columns]
    rows.append(["ratio", *map(format_summary, ratios)])
    gain, gain_under_load = ratios[3].median, ratios[0].median
    head = ["", "calls/s", "servers, µs/call", "load, µs/call", "calls/s without the load"]
    return Table(f"Single calls to several processes ({rounds} rounds)", head, rows), Claim(
        "two processes answer more calls than one, with the processors for themselves",
        f"{_MIN_GAIN} times as many at least",
        f"{gain:.2f} times ({gain_under_load:.2f} beside the load)",
        gain >= _MIN_GAIN,
    )


def _simulation_table(trials: int) -> Table:
    """Return the table of `_even_share`, by number of processes and connections."""
    counts = (4, 16, 64, 256)
    generator = random.Random(0)  # noqa: S311  (a simulation)
    rows = []
    for processes in (2, 4, 8, 16, 32, 64):
        shares = [_even_share(processes, processes * n, trials, generator) for n in counts]
        rows.append([str(processes), *(f"{share:.2f}" for share in shares)])
    head = ["processes", *(f"{count} connections per process" for count in counts)]
    caption = "Share of all processes' calls that is served before the busiest of them is full"
    return Table(f"{caption} (simulation, median of {trials:,})", head, rows)


def _even_share(processes: int, connections: int, trials: int, generator: random.Random) -> float:
    """Return the median ratio of the mean load of a process to the largest.

    All connections have the same load, and each is assigned to a process at random.
    """
    shares = []
    for _ in range(trials):
        loads = [0] * processes
        for _ in range(connections):
            loads[generator.randrange(processes)] += 1
        shares.append(connections / processes / max(loads))
    return statistics.median(shares)


if __name__ == "__main__":
    run(measure, __doc__, add_options)
