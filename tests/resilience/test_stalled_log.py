"""A server whose log is not read or cannot be written."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from sidecheck.v1 import info_service_pb2
from sidecheck.v1.info_service_pb2_grpc import InfoServiceStub

SECONDS = 60


class LoggingServer:
    """A server that logs every call to *stderr*; counts the calls."""

    def __init__(self, folder: Path, stderr: Any, *shell: str) -> None:
        self.socket = folder / "socket"
        self.process = subprocess.Popen(
            [
                *shell,
                *(sys.executable, "-m", "sidecheck_server", "serve", "--grace-seconds", "1"),
                *("--listen", "", "--unix-socket", str(self.socket)),
                *("--log-level", "debug", "--log-format", "json"),
            ],
            stderr=stderr,
            stdout=subprocess.PIPE,
        )
        self.calls = 0

    def call(self, count: int) -> None:
        """Make *count* calls, each of which must succeed."""
        with grpc.insecure_channel(f"unix:{self.socket}") as channel:
            stub: Any = InfoServiceStub(channel)
            for _ in range(count):
                request = info_service_pb2.GetServerInfoRequest()
                stub.GetServerInfo(request, timeout=SECONDS, wait_for_ready=True)
        self.calls += count

    def stop(self) -> int:
        """Return the exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def stalled(tmp_path: Path) -> Iterator[LoggingServer]:
    """Return a server that has logged more than its pipe and queue hold, without a reader."""
    server = LoggingServer(tmp_path, subprocess.PIPE)
    server.call(20_000)
    yield server
    server.kill()


def events(lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the events in *lines*."""
    return (json.loads(line) for line in lines)


def test_the_server_stops_although_its_log_is_stalled(stalled: LoggingServer) -> None:
    """Calls succeed before and after the log stalls."""
    stalled.call(10)

    assert 0 == stalled.stop()


def test_dropped_events_are_counted(stalled: LoggingServer) -> None:
    """Once the log is read again, its events and the count of dropped events add up."""
    log = stalled.process.stderr
    assert log is not None
    names = []
    for event in events(iter(log)):
        names.append(event["event"])
        if event["event"] == "log.dropped":
            break
    dropped = event["lines"]

    assert (0, dropped) == (stalled.stop(), stalled.calls - names.count("rpc.completed"))
    assert dropped > 0
    assert ["server.draining", "server.stopped"] == [event["event"] for event in events(iter(log))]


@pytest.mark.parametrize(
    "redirection", ["2>&-", "0<&- 1>&- 2>&-", "2>/dev/full", "2> >(exec sleep 0)"]
)
def test_an_unwritable_log_does_not_affect_calls(tmp_path: Path, redirection: str) -> None:
    """The log is closed from the start, on a full disk, or its reader has ended."""
    shell = ("bash", "-c", f'exec "$@" {redirection}', "bash")
    server = LoggingServer(tmp_path, subprocess.DEVNULL, *shell)
    try:
        server.call(100)
        open_files = [
            str(Path(f"/proc/{server.process.pid}/fd/{number}").readlink()) for number in range(3)
        ]
        assert 0 == server.stop()
    finally:
        server.kill()

    assert [] == [name for name in open_files if name.startswith("socket:")]


def test_the_log_resumes_once_a_full_disk_has_space(tmp_path: Path) -> None:
    """An event counts the dropped events; a partial line is ended."""
    program = """
import os, resource, signal, structlog, sys
from sidecheck_server.observability.log import configure_log
from sidecheck_server.config.settings import Settings
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = configure_log(Settings(log_format="json"))
log = structlog.get_logger()
log.info("first")
writer.flush(60)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (os.fstat(2).st_size + 10, hard))
log.info("second")
log.info("third")
writer.flush(60)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
log.info("fourth")
writer.flush(60)
"""
    path = tmp_path / "log"
    with path.open("wb") as file:
        subprocess.run([sys.executable, "-c", program], stderr=file, timeout=SECONDS, check=True)
    first, torn, *rest = path.read_bytes().splitlines()

    assert "first" == json.loads(first)["event"]
    assert 10 == len(torn)
    assert [("fourth", None), ("log.dropped", 2)] == [
        (event["event"], event.get("lines")) for event in events(iter(rest))
    ]
