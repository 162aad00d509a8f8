"""Load generation with h2load, or with processes that use gRPC's Python client.

h2load posts a file as the body of each request: gRPC messages, each with a prefix of five
bytes, so a file of several messages is a whole stream. It does not report trailers, which have
the status of a call. A failed unary call has no message in its response, so the total size of the
responses shows whether all calls succeeded; a different size raises an error.
"""

import json
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.servers import RunningServer

__all__ = ["Load", "LoadShape", "LoadTurn", "Work", "has_h2load", "make_load_turn", "run_load"]

_CLIENT_SCRIPT = Path(__file__).resolve().parent.parent / "programs" / "load_client.py"


@dataclass(frozen=True, slots=True)
class Work:
    """Call to repeat."""

    #: Path of the method.
    path: str
    #: Request messages; several for a stream.
    messages: tuple[bytes, ...]
    #: Size of the response messages without prefixes, in bytes, and their number.
    response_bytes: int
    responses: int = 1

    @property
    def body_bytes(self) -> int:
        """Size of the body of a response, in bytes."""
        return self.response_bytes + 5 * self.responses


@dataclass(frozen=True, slots=True)
class LoadShape:
    """Concurrency of a load, and its generator."""

    connections: int = 4
    #: Concurrent calls of each connection.
    in_flight: int = 8
    #: Rate of calls; None for as many as possible.
    per_second: int | None = None
    #: Whether gRPC's Python client makes the calls even if h2load is installed.
    callers: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """Result of many calls."""

    calls: int
    seconds: float
    #: Latency of each call.
    milliseconds: Sequence[float]


@dataclass(frozen=True, slots=True)
class LoadTurn:
    """Figures of a turn of calls, each with one or more payloads."""

    #: Payloads per second.
    rate: float
    #: Processor time per payload, in microseconds: of the server, and of the load generator.
    server: float
    generator: float


def has_h2load() -> bool:
    """Return whether h2load is installed (Debian package nghttp2-client)."""
    return shutil.which("h2load") is not None


def make_load_turn(
    server: RunningServer,
    transport: str,
    work: Work,
    shape: LoadShape,
    *,
    seconds: float,
    payloads: int = 1,
) -> Callable[[], LoadTurn]:
    """Return a turn of about *seconds*, or of few calls if *seconds* is 0.

    *payloads* is their number in one call.
    """
    address = server.address(transport)
    calls = 2 * shape.connections * shape.in_flight
    if seconds:
        # gRPC reaches its speed after some calls.
        run_load(address, work, calls, shape)
        load = run_load(address, work, calls, shape)
        calls = max(calls, int(seconds * load.calls / load.seconds))

    def turn() -> LoadTurn:
        server_before, generator_before = server.processor_seconds(), _children_seconds()
        load = run_load(address, work, calls, shape)
        server_seconds = server.processor_seconds() - server_before
        generator_seconds = _children_seconds() - generator_before
        count = load.calls * payloads
        # psutil counts hundredths of a second.
        return LoadTurn(
            count / load.seconds,
            max(server_seconds, 0.001) * 1e6 / count,
            max(generator_seconds, 0.001) * 1e6 / count,
        )

    return turn


def _children_seconds() -> float:
    """Return the processor time of all ended child processes, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_load(address: str, work: Work, calls: int, shape: LoadShape) -> Load:
    """Make *calls* calls.

    Without h2load, processes with gRPC's Python client make them. These are slower than a
    server, and have no fixed rate.

    Raises:
        AssertionError: a call had an unexpected response.
    """
    with tempfile.TemporaryDirectory() as folder:
        body = Path(folder) / "body"
        body.write_bytes(_frame_messages(work.messages))
        if shape.callers or not has_h2load():
            in_flight = shape.connections * shape.in_flight
            return _load_by_clients(address, work, calls, in_flight, body)
        return _load_by_h2load(address, work, calls, shape, body)


def _frame_messages(messages: Sequence[bytes]) -> bytes:
    """Return *messages* as the body of a request (gRPC over HTTP2, Length-Prefixed-Message)."""
    return b"".join(b"\0" + struct.pack(">I", len(message)) + message for message in messages)


def _load_by_h2load(address: str, work: Work, calls: int, shape: LoadShape, body: Path) -> Load:
    log = body.with_name("log")
    base = address if address.startswith("unix:") else f"http://{address}"
    pace = [] if shape.per_second is None else [f"--rps={shape.per_second // shape.connections}"]
    command = [
        *("h2load", "-n", str(calls), "-c", str(shape.connections), "-m", str(shape.in_flight)),
        *(*pace, "-d", str(body), "-H", "content-type: application/grpc", "-H", "te: trailers"),
        *("--log-file", str(log), "-B", base, f"http://localhost{work.path}"),
    ]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    received = re.search(r"\((\d+)\) data", completed.stdout)
    elapsed = re.search(r"finished in ([\d.]+)(us|ms|s),", completed.stdout)
    if received is None or elapsed is None:
        raise AssertionError(f"unexpected output of h2load:\n{completed.stdout}")
    _expect_bytes(calls * work.body_bytes, int(received[1]))
    seconds = float(elapsed[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[elapsed[2]]
    rows = (line.split("\t") for line in log.read_text(encoding="utf-8").splitlines())
    return Load(calls, seconds, [int(row[2]) / 1000 for row in rows])


def _load_by_clients(address: str, work: Work, calls: int, in_flight: int, body: Path) -> Load:
    processes = 2
    command = [sys.executable, str(_CLIENT_SCRIPT), address, work.path, str(body)]
    command += [str(calls // processes), str(max(1, in_flight // processes))]
    clients = [
        subprocess.Popen(  # noqa: S603  (our own command)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(processes)
    ]
    for client in clients:
        assert client.stdout is not None
        client.stdout.readline()
    started = time.perf_counter()
    for client in clients:
        assert client.stdin is not None
        client.stdin.write("go\n")
        client.stdin.flush()
    results = [json.loads(client.communicate()[0]) for client in clients]
    seconds = time.perf_counter() - started
    completed = processes * (calls // processes)
    _expect_bytes(completed * work.response_bytes, sum(result["bytes"] for result in results))
    return Load(
        completed, seconds, [elapsed for result in results for elapsed in result["milliseconds"]]
    )


def _expect_bytes(expected: int, received: int) -> None:
    if expected != received:
        raise AssertionError(f"the responses have {received} bytes; expected {expected}")
