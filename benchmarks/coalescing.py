"""Calls that ride together: coalesced validations, against single calls and a bare server.

64 concurrent callers of one client, and a lone caller, with and without coalescing, in turns
with the same client's single calls to a server that answers the same bytes without looking at
what came. The clients of Go and TypeScript are measured where their tools are on PATH.

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
from load import Work
from load_calls import call_once
from report import Claim, Effort, Section, Table, format_summary, run
from servers import Running, echo, sidecheck
from sidecheck import Arguments, BlockingClient, Item, RegisteredTool
from sidecheck.wire import validation
from subjects import own_tool
from turns import Rounds, take_turns

__all__ = ["measure"]

_REPOSITORY = Path(__file__).resolve().parent.parent
_GO, _TYPESCRIPT = _REPOSITORY / "clients/go", _REPOSITORY / "clients/typescript"
_SERVER, _TOOL = "bench", "git_log"
_METHOD = "/sidecheck.v1.ValidationService/Validate"
_CALLERS = 64
_LEAST_OF_BARE = 8.0
_MOST_OF_PLAIN = 1.05

_BARE, _UNARY, _COALESCED = "bare server", "single calls", "coalesced"
_LONE, _LONE_COALESCED = "lone caller", "lone caller, coalesce on"

# Room for all single calls of one client; by default the server refuses those beyond 32.
_SETTINGS = {"SIDECHECK_TRANSPORT__CONNECTION_CALLS": "256"}

_TEXT = (
    "Both servers run at once, each in a process of its own, and are reached over a unix socket. "
    f"{_CALLERS} callers of one client make one call after the other with a valid payload of "
    f"`{_TOOL}` (136 bytes); a lone caller does the same by itself. The bare server is called by "
    "the same client, with single calls. The time of the processor is that of the whole server "
    "process, from `psutil`. Sidecheck accepts 256 calls of a connection, so that no single call "
    "is refused. Ratios compare turns of the same round."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Figures of one load."""

    #: Calls in a second of the server's processor.
    per_processor: float
    #: Calls in a second.
    rate: float
    #: Median latency of a call, in microseconds.
    p50: float


@dataclass(frozen=True, slots=True)
class Measured:
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
            answer = call_once(channel, work)
        programs, absent = _programs(folder)
        with echo(folder, {_METHOD: answer}) as bare:
            measured = [
                _measure(effort, language, command, arguments, server, bare)
                for language, command in programs.items()
            ]
    return Section(
        "coalescing",
        "Calls that ride together",
        " ".join((_TEXT, *absent)),
        [_concurrent_table(measured), _lone_table(measured)],
        list(_claims(measured)),
    )


def _programs(folder: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Return the command of each language's load program, and what is said of those absent."""
    programs = {"Python": [sys.executable, str(Path(__file__).with_name("coalescing_client.py"))]}
    absent = []
    go = _GO / "cmd/coalescing"
    if go.is_dir() and shutil.which("go") is not None:
        program = folder / "coalescing"
        build = ["go", "build", "-o", str(program), "./cmd/coalescing"]
        subprocess.run(build, cwd=_GO, check=True)  # noqa: S603  (our own command)
        programs["Go"] = [str(program)]
    else:
        absent.append("Go was not measured: no go on PATH, or no load program.")
    typescript = _TYPESCRIPT / "build/benchmarks/coalescing.js"
    if typescript.exists() and shutil.which("node") is not None:
        programs["TypeScript"] = ["node", str(typescript)]
    else:
        absent.append("TypeScript was not measured: no node on PATH, or the client is not built.")
    return programs, absent


def _measure(
    effort: Effort,
    language: str,
    command: list[str],
    arguments: Path,
    server: Running,
    bare: Running,
) -> Measured:
    rounds, seconds = effort.choose((15, 1.0), (2, 0.1))
    loads = {
        _BARE: (bare, "unary"),
        _UNARY: (server, "unary"),
        _COALESCED: (server, "coalesced"),
        _LONE: (server, "lone"),
        _LONE_COALESCED: (server, "lone-coalesced"),
    }
    turns = {
        name: _turn([*command, each.address("unix"), mode], arguments, each, seconds)
        for name, (each, mode) in loads.items()
    }
    found = take_turns(turns, rounds)
    return Measured(
        language,
        Rounds({name: [turn.per_processor for turn in each] for name, each in found.items()}),
        Rounds({name: [turn.rate for turn in each] for name, each in found.items()}),
        Rounds({name: [turn.p50 for turn in each] for name, each in found.items()}),
    )


def _turn(
    command: list[str], arguments: Path, server: Running, seconds: float
) -> Callable[[], Turn]:
    environment = {**os.environ, "SIDECHECK_BENCH_ARGUMENTS": str(arguments)}

    def turn() -> Turn:
        before = server.processor_seconds()
        done = subprocess.run(  # noqa: S603  (our own command)
            [*command, str(_CALLERS), str(seconds)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env=environment,
        )
        # psutil counts hundredths of a second.
        used = max(server.processor_seconds() - before, 0.01)
        result = json.loads(done.stdout)
        calls = result["calls"]
        return Turn(calls / used, calls / result["seconds"], result["p50_microseconds"])

    return turn


def _concurrent_table(measured: list[Measured]) -> Table:
    rows = [
        [
            f"{each.language}, {name}",
            format_summary(each.per_processor.of(name)),
            format_summary(each.per_processor.ratio(name, _BARE)),
            format_summary(each.rates.of(name)),
            format_summary(each.p50.of(name), 1e-3),
        ]
        for each in measured
        for name in (_BARE, _UNARY, _COALESCED)
    ]
    head = [
        "client",
        "calls/s of the server's processor",
        "bare server's, x",
        "calls/s",
        "50 %, ms",
    ]
    n = measured[0].rates.of(_UNARY).n
    return Table(f"{_CALLERS} concurrent callers ({n} rounds)", head, rows)


def _lone_table(measured: list[Measured]) -> Table:
    rows = [
        [
            each.language,
            format_summary(each.p50.of(_LONE)),
            format_summary(each.p50.of(_LONE_COALESCED)),
            format_summary(each.p50.ratio(_LONE_COALESCED, _LONE)),
        ]
        for each in measured
    ]
    head = ["client", "without, 50 %, µs", "with, 50 %, µs", "ratio, x"]
    return Table("A lone caller, without and with coalescing", head, rows)


def _claims(measured: list[Measured]) -> Iterator[Claim]:
    for each in measured:
        gain = each.per_processor.ratio(_COALESCED, _BARE).median
        yield Claim(
            f"coalesced calls cost the server little ({each.language})",
            f"{_LEAST_OF_BARE:g} times the bare server's calls for its processor at least",
            f"{gain:.1f}",
            gain >= _LEAST_OF_BARE,
        )
        ratio = each.p50.ratio(_LONE_COALESCED, _LONE).median
        yield Claim(
            f"a lone caller does not pay for coalescing ({each.language})",
            f"{_MOST_OF_PLAIN} times the latency without it at most (50 %)",
            f"{ratio:.3f}",
            ratio <= _MOST_OF_PLAIN,
        )


if __name__ == "__main__":
    run(measure, __doc__)
