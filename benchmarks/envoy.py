"""Cost of a single call by what serves the API: gRPC's server in Python, or Envoy.

Both are compared with a bare server of the same kind, which responds with the same bytes without
reading the request. The calls of a lone caller are measured too, one after another. Needs h2load.

    python benchmarks/envoy.py [--quick] [--report FOLDER]
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import psutil
from harness.load import Load, LoadShape, has_h2load, make_load_turn, run_load
from harness.report import Claim, Effort, Section, Table, format_summary, run
from harness.servers import RunningServer, echo, free_port, sidecheck, terminating, wait_for_port
from harness.turns import Rounds, summarize, take_turns
from harness.validation_calls import prepare_single_call

__all__ = ["measure"]

_GRPC, _ENVOY = "Sidecheck", "Sidecheck in Envoy"
_BARE, _BARE_ENVOY = "bare gRPC server", "bare application in Envoy"

_MIN_RATIO_TO_BARE = 2.5
_MIN_RATIO_TO_BARE_ENVOY = 0.65

_TEXT = (
    "All servers run at once, with their default settings, and get the same call in turns over "
    "TCP: `Validate` of a valid payload of `git_log` (136 bytes) with a registered tool, on 4 "
    "connections with 16 calls in flight each. Sidecheck admits, counts and logs every call as it "
    "always does. Processor time is that of the processes that serve, Envoy's threads included, "
    "and of the process that has the registry. The bare application runs in an Envoy with the "
    "default settings of pyvoy. A lone caller makes one call after another. Load comes from h2load."
)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    if not has_h2load():
        print("h2load is not installed (Debian package nghttp2-client)", file=sys.stderr)
        raise SystemExit(2)
    rounds, seconds = effort.choose((15, 1.0), (1, 0.0))
    with ExitStack() as stack:

        def folder() -> Path:
            return Path(stack.enter_context(tempfile.TemporaryDirectory()))

        servers = {
            _GRPC: stack.enter_context(sidecheck(folder())),
            _ENVOY: stack.enter_context(sidecheck(folder(), "--server", "envoy")),
        }
        for server in servers.values():
            work = prepare_single_call(server.tcp)
        with grpc.insecure_channel(servers[_GRPC].tcp) as channel:
            call: Any = channel.unary_unary(work.path)
            response: bytes = call(work.messages[0])
        servers[_BARE] = stack.enter_context(echo(folder(), {work.path: response}))
        servers[_BARE_ENVOY] = stack.enter_context(_asgi_echo(folder(), response))
        shape = LoadShape(4, 16)
        turns = {
            name: make_load_turn(server, "tcp", work, shape, seconds=seconds)
            for name, server in servers.items()
        }
        results = take_turns(turns, rounds)
        calls = effort.choose(1000, 20)
        lone = take_turns(
            {
                name: lambda server=server: run_load(server.tcp, work, calls, LoadShape(1, 1))  # type: ignore[misc]
                for name, server in servers.items()
            },
            rounds,
        )
        memory = {name: server.resident_bytes() for name, server in servers.items()}
    rates, times = Rounds.of_attribute(results, "rate"), Rounds.of_attribute(results, "server")
    rows = [
        [
            name,
            format_summary(times.of(name)),
            format_summary(times.ratio(_BARE, name)),
            format_summary(rates.of(name)),
            format_summary(rates.ratio(name, _BARE)),
            f"{memory[name] >> 20:,}",
        ]
        for name in servers
    ]
    head = ["server", "processor, µs/call", "bare / it", "calls/s", "it / bare", "memory, MiB"]
    return Section(
        "envoy",
        "Single calls by what serves them",
        _TEXT,
        [
            Table(f"At the highest rate ({rounds} rounds)", head, rows),
            _lone_table(lone, rounds, calls),
        ],
        [
            _claim(times, _BARE, _MIN_RATIO_TO_BARE),
            _claim(times, _BARE_ENVOY, _MIN_RATIO_TO_BARE_ENVOY),
        ],
    )


def _claim(times: Rounds, peer: str, least: float) -> Claim:
    ratio = times.ratio(peer, _ENVOY).median
    return Claim(
        f"single calls in Envoy, against a {peer}",
        f"{least} times its calls for the same processor time at least",
        f"{ratio:.2f}",
        ratio >= least,
    )


def _lone_table(lone: dict[str, list[Load]], rounds: int, calls: int) -> Table:
    rows = []
    for name, loads in lone.items():
        cells = []
        for percent in (50, 99):
            values = (sorted(load.milliseconds)[calls * percent // 100] for load in loads)
            cells.append(format_summary(summarize(values)))
        rows.append([name, *cells])
    caption = f"Latency of a lone caller ({rounds} rounds of {calls:,} calls)"
    return Table(caption, ["server", "50 %, ms", "99 %, ms"], rows)


@contextmanager
def _asgi_echo(folder: Path, response: bytes) -> Iterator[RunningServer]:
    """Run the bare application in Envoy."""
    file = folder / "response.bin"
    file.write_bytes(response)
    port = free_port()
    programs = Path(__file__).resolve().parent / "programs"
    process = subprocess.Popen(  # noqa: S603  (our own command)
        [sys.executable, "-m", "pyvoy._cli", "asgi_echo:application", "--port", str(port)],
        env={**os.environ, "ECHO_RESPONSE": str(file)},
        cwd=programs,
    )
    with terminating(process):
        wait_for_port(process, port)
        yield RunningServer(psutil.Process(process.pid), f"127.0.0.1:{port}", folder)


if __name__ == "__main__":
    run(measure, __doc__)
