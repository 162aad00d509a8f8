"""Cost of tracing: unary calls to servers with and without it, in turns.

Tracing is off in the first server. The second records every call and exports the spans to a
collector that discards them. The sampler of the third records none.

    python benchmarks/tracing.py [--quick] [--report FOLDER]
"""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
from harness.load import LoadShape, make_load_turn
from harness.report import Effort, Section, Table, format_summary, run
from harness.servers import sidecheck
from harness.turns import Rounds, take_turns
from harness.validation_calls import prepare_single_call

__all__ = ["measure"]

_OFF, _UNSAMPLED, _RECORDED = "off", "sampler always_off", "sampler always_on"

_TEXT = (
    "All servers run at once, each in a process of its own, and get the same call in turns over a "
    "unix socket: `Validate` of a valid payload of `git_log` (136 bytes) with a prepared target, "
    "which is one span. Processor time is that of the whole server process, including the thread "
    "that exports spans. Ratios compare turns of the same round. Load comes from h2load if it is "
    "installed, otherwise from gRPC's Python client."
)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    rounds, seconds = effort.choose((25, 0.8), (1, 0.0))
    with ExitStack() as stack:
        exporter = {"OTEL_EXPORTER_OTLP_ENDPOINT": stack.enter_context(_collector())}
        environments = {
            _OFF: {},
            _UNSAMPLED: {**exporter, "OTEL_TRACES_SAMPLER": "always_off"},
            _RECORDED: {**exporter, "OTEL_TRACES_SAMPLER": "always_on"},
        }
        turns = {}
        for name, environment in environments.items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            server = stack.enter_context(sidecheck(folder, **environment))
            work = prepare_single_call(server.address("unix"))
            turns[name] = make_load_turn(server, "unix", work, LoadShape(), seconds=seconds)
        results = take_turns(turns, rounds)
    rates, times = Rounds.of_attribute(results, "rate"), Rounds.of_attribute(results, "server")
    rows = [
        [
            name,
            format_summary(rates.of(name)),
            format_summary(rates.ratio(name, _OFF)),
            format_summary(times.of(name)),
            format_summary(times.ratio(name, _OFF)),
        ]
        for name in turns
    ]
    head = ["tracing", "calls/s", "ratio", "processor, µs/call", "ratio"]
    table = Table(f"Single calls ({rounds} rounds)", head, rows)
    return Section("tracing", "Tracing", _TEXT, [table])


@contextmanager
def _collector() -> Iterator[str]:
    """Yield the URL of a collector that responds to every request with an empty message."""
    handler: Any = grpc.unary_unary_rpc_method_handler(_respond)
    service = "opentelemetry.proto.collector.trace.v1.TraceService"
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service, {"Export": handler}),)
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
