"""Coalesced validations of a client, against its single calls and a bare server.

A bare server responds with the same bytes as Sidecheck, without reading the request. Contenders
take turns: 64 concurrent callers of one client, and a lone caller, with and without coalescing.
The clients of Go and TypeScript are measured if their tools are on PATH.

    python benchmarks/coalescing.py [--quick] [--report FOLDER]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
from harness.load import Work
from harness.report import Claim, Effort, Section, Table, format_summary, run
from harness.servers import RunningServer, echo, sidecheck
from harness.subjects import REPOSITORY, own_tool
from harness.turns import Rounds, take_turns
from harness.validation_calls import make_call
from sidecheck import Arguments, BlockingClient, Item, RegisteredTool
from sidecheck.wire import validation

__all__ = ["measure"]

_PYTHON = REPOSITORY / "benchmarks/programs/coalescing_client.py"
_GO, _TYPESCRIPT = REPOSITORY / "clients/go", REPOSITORY / "clients/typescript"
_SERVER, _TOOL = "bench", "git_log"
_METHOD = "/sidecheck.v1.ValidationService/Validate"
_CALLERS = 64
_MIN_RATIO_TO_BARE = 8.0
_MAX_RATIO_TO_PLAIN = 1.05

_BARE, _UNARY, _COALESCED = "bare server", "single calls", "coalesced"
_LONE, _LONE_COALESCED = "lone caller", "lone caller, coalesce on"

# Admits all single calls of one client; the default rejects some of them.
_SETTINGS = {"SIDECHECK_TRANSPORT__CONNECTION_CALLS": "256"}

_TEXT = (
    "Both servers run at once, each in a process of its own, behind unix sockets. "
    f"{_CALLERS} callers of one client make one call after the other with a valid payload of "
    f"`{_TOOL}` (136 bytes); a lone caller does the same alone. The same client makes single "
    "calls to the bare server. Processor time is that of the whole server process, from `psutil`. "
    "Sidecheck accepts 256 calls of a connection, so it rejects no single call. Ratios compare "
    "turns of the same round."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Figures of one load."""

    #: Calls per second of the server's processor time.
    per_processor: float
    #: Calls per second.
    rate: float
    #: Median latency of a call, in microseconds.
    p50: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """Rounds of the client of one language."""

    language: str
    per_processor: Rounds
    rates: Rounds
    p50: Rounds


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    with (
        tempfile.TemporaryDirectory() as name,
        sidecheck(Path(name), **_SETTINGS) as server,
    ):
        folder, subject = Path(name), own_tool(_TOOL)
        arguments = folder / "arguments.json"
        arguments.write_bytes(subject.valid)
        item = Item(Arguments(subject.valid), RegisteredTool(_SERVER, _TOOL))
        work = Work(_METHOD, (validation.encode_request(item).SerializeToString(),), 0)
        with BlockingClient(server.address("unix")) as client:
            client.register(_SERVER, [subject.definition])
        with grpc.insecure_channel(server.address("unix")) as channel:
            response = make_call(channel, work)
        programs, notes = _build_programs(folder)
        with echo(folder, {_METHOD: response}) as bare:
            measurements = [
                _compare(effort, language, command, arguments, server, bare)
                for language, command in programs.items()
            ]
    return Section(
        "coalescing",
        "Coalesced calls",
        " ".join((_TEXT, *notes)),
        [_concurrent_table(measurements), _lone_table(measurements)],
        list(_claims(measurements)),
    )


def _build_programs(folder: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Return the load program of each language, and notes about missing ones."""
    programs = {"Python": [sys.executable, str(_PYTHON)]}
    notes = []
    go = _GO / "cmd/coalescing"
    if go.is_dir() and shutil.which("go") is not None:
        program = folder / "coalescing"
        build = ["go", "build", "-o", str(program), "./cmd/coalescing"]
        subprocess.run(build, cwd=_GO, check=True)  # noqa: S603  (our own command)
        programs["Go"] = [str(program)]
    else:
        notes.append("Go was not measured: no go on PATH, or no load program.")
    typescript = _TYPESCRIPT / "build/benchmarks/coalescing.js"
    if typescript.exists() and shutil.which("node") is not None:
        programs["TypeScript"] = ["node", str(typescript)]
    else:
        notes.append("TypeScript was not measured: no node on PATH, or the client is not built.")
    return programs, notes


def _compare(
    effort: Effort,
    language: str,
    command: list[str],
    arguments: Path,
    server: RunningServer,
    bare: RunningServer,
) -> Measurement:
    rounds, seconds = effort.choose((15, 1.0), (2, 0.1))
    loads = {
        _BARE: (bare, "unary"),
        _UNARY: (server, "unary"),
        _COALESCED: (server, "coalesced"),
        _LONE: (server, "lone"),
        _LONE_COALESCED: (server, "lone-coalesced"),
    }
    turns = {
        name: _make_turn([*command, target.address("unix"), mode], arguments, target, seconds)
        for name, (target, mode) in loads.items()
    }
    results = take_turns(turns, rounds)
    return Measurement(
        language,
        *(Rounds.of_attribute(results, name) for name in ("per_processor", "rate", "p50")),
    )


def _make_turn(
    command: list[str], arguments: Path, server: RunningServer, seconds: float
) -> Callable[[], Turn]:
    environment = {**os.environ, "SIDECHECK_BENCH_ARGUMENTS": str(arguments)}

    def turn() -> Turn:
        before = server.processor_seconds()
        completed = subprocess.run(  # noqa: S603  (our own command)
            [*command, str(_CALLERS), str(seconds)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env=environment,
        )
        # psutil counts hundredths of a second.
        processor_seconds = max(server.processor_seconds() - before, 0.01)
        result = json.loads(completed.stdout)
        calls = result["calls"]
        return Turn(
            calls / processor_seconds, calls / result["seconds"], result["p50_microseconds"]
        )

    return turn


def _concurrent_table(measurements: list[Measurement]) -> Table:
    rows = [
        [
            f"{measurement.language}, {name}",
            format_summary(measurement.per_processor.of(name)),
            format_summary(measurement.per_processor.ratio(name, _BARE)),
            format_summary(measurement.rates.of(name)),
            format_summary(measurement.p50.of(name), 1e-3),
        ]
        for measurement in measurements
        for name in (_BARE, _UNARY, _COALESCED)
    ]
    head = [
        "client",
        "calls/s of the server's processor",
        "bare server's, x",
        "calls/s",
        "50 %, ms",
    ]
    n = measurements[0].rates.of(_UNARY).n
    return Table(f"{_CALLERS} concurrent callers ({n} rounds)", head, rows)


def _lone_table(measurements: list[Measurement]) -> Table:
    rows = [
        [
            measurement.language,
            format_summary(measurement.p50.of(_LONE)),
            format_summary(measurement.p50.of(_LONE_COALESCED)),
            format_summary(measurement.p50.ratio(_LONE_COALESCED, _LONE)),
        ]
        for measurement in measurements
    ]
    head = ["client", "without, 50 %, µs", "with, 50 %, µs", "ratio, x"]
    return Table("A lone caller, without and with coalescing", head, rows)


def _claims(measurements: list[Measurement]) -> Iterator[Claim]:
    for measurement in measurements:
        gain = measurement.per_processor.ratio(_COALESCED, _BARE).median
        yield Claim(
            f"coalesced calls cost the server little ({measurement.language})",
            f"{_MIN_RATIO_TO_BARE:g} times the bare server's calls for its processor at least",
            f"{gain:.1f}",
            gain >= _MIN_RATIO_TO_BARE,
        )
        ratio = measurement.p50.ratio(_LONE_COALESCED, _LONE).median
        yield Claim(
            f"a lone caller does not pay for coalescing ({measurement.language})",
            f"{_MAX_RATIO_TO_PLAIN} times the latency without it at most (50 %)",
            f"{ratio:.3f}",
            ratio <= _MAX_RATIO_TO_PLAIN,
        )


if __name__ == "__main__":
    run(measure, __doc__)
