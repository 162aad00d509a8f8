"""Load generation with h2load, or with processes that use gRPC's Python client.

h2load posts a file as the body of each request: gRPC messages, each with a prefix of five
bytes, so a file of several messages is a whole stream. It does not report trailers, which have
the status of a call. A failed unary call has no message in its response, so all calls succeeded
if and only if the size of the bodies is that of as many expected responses, which is asserted.
"""

import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Load", "Work", "frame_messages", "has_h2load", "run_load"]

_CLIENT_SCRIPT = Path(__file__).resolve().parent / "load_client.py"


@dataclass(frozen=True, slots=True)
class Work:
    """Call to repeat."""

    #: Path of the method.
    path: str
    #: Request messages: one, or several for a stream.
    messages: tuple[bytes, ...]
    #: Size of the response messages without prefixes, in bytes, and their number.
    answer_bytes: int
    answers: int = 1

    @property
    def body_bytes(self) -> int:
        """Size of the body of a response, in bytes."""
        return self.answer_bytes + 5 * self.answers


@dataclass(frozen=True, slots=True)
class Load:
    """Result of many calls."""

    calls: int
    seconds: float
    #: Latency of each call.
    milliseconds: Sequence[float]


def frame_messages(messages: Sequence[bytes]) -> bytes:
    """Return *messages* as the body of a request (gRPC over HTTP2, Length-Prefixed-Message)."""
    return b"".join(b"\0" + struct.pack(">I", len(message)) + message for message in messages)


def has_h2load() -> bool:
    """Return whether h2load is installed (Debian package nghttp2-client)."""
    return shutil.which("h2load") is not None


def run_load(
    address: str,
    work: Work,
    calls: int,
    *,
    connections: int = 4,
    in_flight: int = 8,
    per_second: int | None = None,
    callers: bool = False,
) -> Load:
    """Make *calls* calls, *in_flight* at once per connection, or at a fixed rate.

    With *callers*, or without h2load, processes with gRPC's Python client make them. These
    are slower than a server, and have no fixed rate.

    Raises:
        AssertionError: a call had an unexpected response.
    """
    with tempfile.TemporaryDirectory() as folder:
        body = Path(folder) / "body"
        body.write_bytes(frame_messages(work.messages))
        if callers or not has_h2load():
            return _load_by_clients(address, work, calls, connections * in_flight, body)
        return _load_by_h2load(address, work, calls, (connections, in_flight, per_second), body)


def _load_by_h2load(
    address: str, work: Work, calls: int, shape: tuple[int, int, int | None], body: Path
) -> Load:
    connections, in_flight, per_second = shape
    log = body.with_name("log")
    base = address if address.startswith("unix:") else f"http://{address}"
    pace = [] if per_second is None else [f"--rps={per_second // connections}"]
    command = [
        *("h2load", "-n", str(calls), "-c", str(connections), "-m", str(in_flight), *pace),
        *("-d", str(body), "-H", "content-type: application/grpc", "-H", "te: trailers"),
        *("--log-file", str(log), "-B", base, f"http://localhost{work.path}"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    received = re.search(r"\((\d+)\) data", done.stdout)
    ended = re.search(r"finished in ([\d.]+)(us|ms|s),", done.stdout)
    if received is None or ended is None:
        raise AssertionError(f"unexpected output of h2load:\n{done.stdout}")
    _expect(calls * work.body_bytes, int(received[1]))
    seconds = float(ended[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[ended[2]]
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
    made = processes * (calls // processes)
    _expect(made * work.answer_bytes, sum(result["bytes"] for result in results))
    return Load(
        made, seconds, [elapsed for result in results for elapsed in result["milliseconds"]]
    )


def _expect(expected: int, received: int) -> None:
    if expected != received:
        raise AssertionError(f"the responses have {received} bytes; expected {expected}")
