"""Load on a server: from h2load, a program in C, or from processes with gRPC's own client.

h2load posts a file as the body of each request: gRPC's messages, each with its prefix of
five bytes, so a file of many messages is a whole stream. It does not show trailers, where
gRPC says how a call ended. But a unary call that failed has no message in its answer, so
all calls ended well exactly if the bytes of the bodies are those of as many expected
answers. Each load is held to that.
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

__all__ = ["Load", "Work", "framed", "has_h2load", "loaded"]

_CALLER = Path(__file__).resolve().parent / "caller.py"


@dataclass(frozen=True, slots=True)
class Work:
    """One call to be made over and over."""

    #: The path of the method.
    path: str
    #: What is sent, a message or, for a stream, several.
    messages: tuple[bytes, ...]
    #: The bytes of the answer's messages, their prefixes not counted, and their number.
    answer_bytes: int
    answers: int = 1

    @property
    def body_bytes(self) -> int:
        """The length of the body of an answer."""
        return self.answer_bytes + 5 * self.answers


@dataclass(frozen=True, slots=True)
class Load:
    """What became of many calls."""

    calls: int
    seconds: float
    #: How long each call took.
    milliseconds: Sequence[float]


def framed(messages: Sequence[bytes]) -> bytes:
    """Return *messages* as the body of a request (gRPC over HTTP2, Length-Prefixed-Message)."""
    return b"".join(b"\0" + struct.pack(">I", len(each)) + each for each in messages)


def has_h2load() -> bool:
    """Return whether h2load is there; Debian has it in the package nghttp2-client."""
    return shutil.which("h2load") is not None


def loaded(
    address: str,
    work: Work,
    calls: int,
    *,
    connections: int = 4,
    in_flight: int = 8,
    per_second: int | None = None,
    callers: bool = False,
) -> Load:
    """Make so many calls, so many at once on each connection, or at a fixed rate.

    With *callers*, or where h2load is missing, other processes with gRPC's Python client
    make them, which can make fewer than a server can answer, and keep no rate.

    Raises:
        AssertionError: not every call was answered as expected.
    """
    with tempfile.TemporaryDirectory() as folder:
        body = Path(folder) / "body"
        body.write_bytes(framed(work.messages))
        if callers or not has_h2load():
            return _by_callers(address, work, calls, connections * in_flight, body)
        return _by_h2load(address, work, calls, (connections, in_flight, per_second), body)


def _by_h2load(
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
        raise AssertionError(f"h2load said what is not understood:\n{done.stdout}")
    _expect(calls * work.body_bytes, int(received[1]))
    seconds = float(ended[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[ended[2]]
    rows = (line.split("\t") for line in log.read_text(encoding="utf-8").splitlines())
    return Load(calls, seconds, [int(row[2]) / 1000 for row in rows])


def _by_callers(address: str, work: Work, calls: int, in_flight: int, body: Path) -> Load:
    many = 2
    command = [sys.executable, str(_CALLER), address, work.path, str(body)]
    command += [str(calls // many), str(max(1, in_flight // many))]
    started = [
        subprocess.Popen(  # noqa: S603  (our own command)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(many)
    ]
    for one in started:
        assert one.stdout is not None
        one.stdout.readline()
    began = time.perf_counter()
    for one in started:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [json.loads(one.communicate()[0]) for one in started]
    seconds = time.perf_counter() - began
    made = many * (calls // many)
    _expect(made * work.answer_bytes, sum(each["bytes"] for each in told))
    return Load(made, seconds, [took for each in told for took in each["milliseconds"]])


def _expect(wanted: int, received: int) -> None:
    if wanted != received:
        raise AssertionError(f"the answers have {received} bytes, and {wanted} were expected")
