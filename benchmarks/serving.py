"""Cost of a call to the server, against a bare gRPC server.

Unary calls, batches and streams, over TCP and a unix socket, in turns with a server that
answers the same bytes without looking at what came; and a batch's cost for each item,
against decoding, validation and reading and writing the messages, which no server can leave
out. Load comes from h2load where it is installed, else from gRPC's own client.

    python benchmarks/serving.py [--quick] [--report FOLDER] [--callers]
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
from load import Load, Work, has_h2load, run_load
from load_calls import SERVER, Call, all_calls, call_once
from plots import plot_bars
from report import Claim, Effort, Section, Table, format_summary, run
from servers import Running, echo, sidecheck
from sidecheck import BlockingClient
from subjects import own_tool
from turns import Rounds, make_turn, summarize, take_turns

__all__ = ["add_options", "measure"]

_SIDECHECK, _BARE, _FLOOR = "Sidecheck", "bare server", "floor"
_LEAST_OF_BARE = 0.85
_MOST_OF_FLOOR = 1.5

_TEXT = (
    "Both servers run at once, each in a process of its own with its default settings, and "
    "are loaded in turns with the same request; the bare one answers the same bytes as "
    "Sidecheck. The payload is a valid one of `git_log` (136 bytes). The size of the responses of "
    "every load is checked, a call of a real client before and after has the expected "
    "response, and the server's log is searched for errors. The time of the "
    "processor is that of the whole server process, the threads of gRPC included, from "
    "`psutil`. The floor of a batch is measured in one process in the same rounds: read the "
    "request, decode and validate every payload, build and serialize the response."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Figures of one load."""

    #: Of payloads in a second.
    rate: float
    #: Microseconds of the server's processor for a payload.
    processor: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Rounds of one call."""

    call: Call
    rates: Rounds
    processor: Rounds


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    parser.add_argument(
        "--callers", action="store_true", help="make calls with gRPC's own client, not h2load"
    )


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    callers = effort.arguments.callers or not has_h2load()
    with tempfile.TemporaryDirectory() as folder, sidecheck(Path(folder)) as server:
        subject = own_tool("git_log")
        with BlockingClient(server.address("unix")) as client:
            client.register(SERVER, [subject.definition])
        with grpc.insecure_channel(server.address("unix")) as channel:
            calls = list(all_calls(channel, subject, quick=effort.quick))
            found = [_measure(effort, folder, server, *one, callers=callers) for one in calls]
            paced = [] if callers else _paced(effort, folder, server, *calls[0])
            for call, answer in calls:
                if call.title != "stream" and call_once(channel, call.work) != answer:
                    raise AssertionError(f"{call.title} is answered otherwise than before")
    if effort.folder is not None:
        _plot(effort.folder, found)
    load = "gRPC's own Python client in 2 processes" if callers else "h2load"
    note = "" if has_h2load() else " h2load is missing, so nothing was asked at a fixed rate."
    return Section(
        "serving",
        "Serving, against a bare gRPC server",
        f"{_TEXT} Load: {load}.{note}",
        [_table(found), _floor_table(found), *paced],
        list(_claims(found)),
        [("serving.svg", "Time of the processor for a payload, by kind of call")],
    )


def _measure(
    effort: Effort, folder: str, server: Running, call: Call, answer: bytes, *, callers: bool
) -> Measured:
    rounds, seconds = effort.choose((15, 0.4), (1 if callers else 2, 0.0))
    within = Path(tempfile.mkdtemp(dir=folder))
    with echo(within, {call.work.path: answer}) as bare:
        ours = _loading(server, call, call.work, seconds, callers=callers)
        work = call.work
        if call.title == "stream":
            count = len(work.messages)
            work = Work(work.path, work.messages, count * len(answer), count)
        turns = {_SIDECHECK: ours, _BARE: _loading(bare, call, work, seconds, callers=callers)}
        if call.floor is not None:
            elapsed = make_turn(call.floor, call.work.messages[0], seconds / 4)
            turns[_FLOOR] = lambda: Turn(0.0, elapsed() * 1e6 / call.items)
        found = take_turns(turns, rounds)
    rates = {name: [turn.rate for turn in found[name]] for name in (_SIDECHECK, _BARE)}
    times = {name: [turn.processor for turn in turns] for name, turns in found.items()}
    return Measured(call, Rounds(rates), Rounds(times))


def _loading(
    server: Running, call: Call, work: Work, seconds: float, *, callers: bool
) -> Callable[[], Turn]:
    """Return a turn of about *seconds*, or of few calls without."""

    def load(calls: int) -> Load:
        return run_load(
            server.address(call.transport),
            work,
            calls,
            connections=call.connections,
            in_flight=call.in_flight,
            callers=callers,
        )

    calls = 2 * call.connections * call.in_flight
    if seconds:
        tried = load(calls)
        calls = max(calls, int(seconds * tried.calls / tried.seconds))

    def turn() -> Turn:
        before = server.processor_seconds()
        done = load(calls)
        used = server.processor_seconds() - before
        payloads = done.calls * call.items
        return Turn(payloads / done.seconds, max(used, 0.001) * 1e6 / payloads)

    return turn


def _paced(effort: Effort, folder: str, server: Running, call: Call, answer: bytes) -> list[Table]:
    rounds, calls, rate = effort.choose((7, 2000, 1000), (2, 100, 500))
    within = Path(tempfile.mkdtemp(dir=folder))
    rows = []
    with echo(within, {call.work.path: answer}) as bare:
        for transport in ("unix", "tcp"):
            turns = {
                name: _pacing(one.address(transport), call.work, calls, rate)
                for name, one in ((_SIDECHECK, server), (_BARE, bare))
            }
            found = take_turns(turns, rounds)
            for name, loads in found.items():
                cells = (
                    format_summary(summarize(_percentile(load, at) for load in loads))
                    for at in _PERCENTS
                )
                rows.append([f"{name}, {transport}", *cells])
    head = ["server", *(f"{percent} %, ms" for percent in _PERCENTS)]
    caption = f"Latency of single calls at {rate:,} in a second ({rounds} rounds of {calls:,})"
    return [Table(caption, head, rows)]


_PERCENTS = (50, 90, 99)


def _pacing(address: str, work: Work, calls: int, rate: int) -> Callable[[], Load]:
    return lambda: run_load(address, work, calls, per_second=rate)


def _percentile(load: Load, percent: int) -> float:
    ordered = sorted(load.milliseconds)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


# What is told


def _table(found: list[Measured]) -> Table:
    rows = [
        [
            f"{measured.call.title}, {measured.call.transport}",
            format_summary(measured.rates.of(_SIDECHECK)),
            format_summary(measured.rates.of(_BARE)),
            format_summary(measured.rates.ratio(_SIDECHECK, _BARE)),
            format_summary(measured.processor.of(_SIDECHECK)),
            format_summary(measured.processor.of(_BARE)),
            format_summary(measured.processor.ratio(_SIDECHECK, _BARE)),
        ]
        for measured in found
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
    n = found[0].rates.of(_SIDECHECK).n
    return Table(f"As fast as it goes ({n} rounds)", head, rows)


def _floor_table(found: list[Measured]) -> Table:
    rows = [
        [
            measured.call.title,
            format_summary(measured.processor.of(_SIDECHECK)),
            format_summary(measured.processor.of(_FLOOR)),
            format_summary(measured.processor.ratio(_SIDECHECK, _FLOOR)),
        ]
        for measured in found
        if measured.call.floor is not None
    ]
    head = ["calls", "server's processor, µs/payload", "floor, µs/payload", "ratio, x"]
    return Table("Batches against decoding, validation and messages alone", head, rows)


def _claims(found: list[Measured]) -> Iterator[Claim]:
    for measured in found:
        if measured.call.title == "one":
            ratio = measured.rates.ratio(_SIDECHECK, _BARE).median
            times = measured.processor.ratio(_SIDECHECK, _BARE).median
            yield Claim(
                f"single calls are near a bare gRPC server ({measured.call.transport})",
                f"{_LEAST_OF_BARE} of its calls in a second at least",
                f"{ratio:.2f} (with {times:.2f} times the processor's time)",
                ratio >= _LEAST_OF_BARE,
            )
        if measured.call.items == 256 and measured.call.floor is not None:
            ratio = measured.processor.ratio(_SIDECHECK, _FLOOR).median
            yield Claim(
                "a batch of 256 is near decoding, validation and messages alone",
                f"{_MOST_OF_FLOOR} times that at most, for a payload",
                f"{ratio:.2f}",
                ratio <= _MOST_OF_FLOOR,
            )


def _plot(folder: Path, found: list[Measured]) -> None:
    plot_bars(
        folder / "serving.svg",
        "Time of the server's processor for one payload",
        "microseconds: median and quartiles of the rounds",
        {
            f"{measured.call.title}, {measured.call.transport}": {
                name: measured.processor.of(name) for name in measured.processor.figures
            }
            for measured in found
        },
        begin=0.1,
    )


if __name__ == "__main__":
    run(measure, __doc__, add_options)
