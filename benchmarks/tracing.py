"""Cost of tracing: unary calls to servers with and without it, in turns.

One server has tracing off, one records every call and exports the spans to a collector that
reads nothing of them, and one has a sampler that records none. Load comes from h2load where it is
installed, else from gRPC's own client.

    python benchmarks/tracing.py [--quick] [--report FOLDER]
"""

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
from load import run_load
from load_calls import SERVER, Call, all_calls
from report import Effort, Section, Table, format_summary, run
from servers import Running, sidecheck
from sidecheck import BlockingClient
from subjects import own_tool
from turns import Rounds, take_turns

__all__ = ["measure"]

_OFF, _UNSAMPLED, _RECORDED = "off", "sampler always_off", "sampler always_on"

_TEXT = (
    "All servers run at once, each in a process of its own, and are loaded in turns over a unix "
    "socket with the same call: `Validate` of a valid payload of `git_log` (136 bytes), a prepared "
    "target, which is one span. The time of the processor is that of the whole server process, "
    "with the thread that exports spans. Ratios compare turns of the same round."
)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    rounds, calls = effort.choose((25, 3000), (1, 64))
    with ExitStack() as stack:
        exported = {"OTEL_EXPORTER_OTLP_ENDPOINT": stack.enter_context(_collector())}
        variables = {
            _OFF: {},
            _UNSAMPLED: {**exported, "OTEL_TRACES_SAMPLER": "always_off"},
            _RECORDED: {**exported, "OTEL_TRACES_SAMPLER": "always_on"},
        }
        turns = {}
        for name, environment in variables.items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            server = stack.enter_context(sidecheck(folder, **environment))
            turns[name] = _turn(server, calls)
        found = take_turns(turns, rounds)
    return Section("tracing", "Tracing", _TEXT, [_table(found)])


def _turn(server: Running, calls: int) -> Callable[[], tuple[float, float]]:
    """Return a turn, whose result is the rate of calls and the processor's time of one."""
    subject = own_tool("git_log")
    with BlockingClient(server.address("unix")) as client:
        client.register(SERVER, [subject.definition])
    with grpc.insecure_channel(server.address("unix")) as channel:
        call: Call
        call, _ = next(all_calls(channel, subject, quick=True))

    def turn() -> tuple[float, float]:
        before = server.processor_seconds()
        load = run_load(server.address(call.transport), call.work, calls)
        return load.calls / load.seconds, (server.processor_seconds() - before) * 1e6 / calls

    return turn


def _table(found: dict[str, list[tuple[float, float]]]) -> Table:
    rates = Rounds({name: [rate for rate, _ in turns] for name, turns in found.items()})
    times = Rounds({name: [max(time, 0.1) for _, time in turns] for name, turns in found.items()})
    rows = [
        [
            name,
            format_summary(rates.of(name)),
            format_summary(rates.ratio(name, _OFF)),
            format_summary(times.of(name)),
            format_summary(times.ratio(name, _OFF)),
        ]
        for name in found
    ]
    head = ["tracing", "calls/s", "ratio", "processor, µs/call", "ratio"]
    return Table("Medians and quartiles", head, rows)


@contextmanager
def _collector() -> Iterator[str]:
    """Yield the URL of a collector, which answers every request with an empty message."""
    empty: Any = grpc.unary_unary_rpc_method_handler(_respond)
    service = "opentelemetry.proto.collector.trace.v1.TraceService"
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service, {"Export": empty}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


def _respond(_request: bytes, _context: Any) -> bytes:
    return b""


if __name__ == "__main__":
    run(measure, __doc__)
