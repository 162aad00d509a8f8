"""A server stops in spite of its peers, its workers and its callers."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import grpc
import psutil
import pytest
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from resilience.http2 import Peer
from resilience.lifecycle import (
    call_without_end,
    call_without_reading,
    flood_pings,
    stop_workers,
)
from sidecheck.v1 import target_pb2, validation_service_pb2
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer

NEVER = "80000"
"""Seconds beyond the duration of any test."""

SECONDS = 60
"""Maximum seconds of a stop on a busy machine; it is due after one to three."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., RunningServer]]:
    """Return a function that starts a server with flags."""
    started: list[RunningServer] = []

    def start_server(*flags: str) -> RunningServer:
        started.append(RunningServer(tmp_path, *flags))
        return started[-1]

    yield start_server
    for running in started:
        running.process.kill()
        running.close()


class SlowCall(threading.Thread):
    """Thread that makes a call or a stream that needs a worker, and records its status."""

    def __init__(self, running: RunningServer, *, streamed: bool = False) -> None:
        super().__init__(daemon=True)
        self._streamed = streamed
        self._address = running.address
        self.outcome: tuple[str, str] | None = None
        self.start()

    def run(self) -> None:
        schema = target_pb2.InlineSchema(json=b'{"minimum": 1}')
        target = target_pb2.Target(inline_schema=schema)
        subject = target_pb2.Subject(arguments=b"{}")
        request = validation_service_pb2.ValidateRequest(target=target, subject=subject)
        item = validation_service_pb2.ValidateItem(target=target, subject=subject)
        sent = validation_service_pb2.ValidateStreamRequest(
            item=validation_service_pb2.StreamItem(id="1", item=item)
        )
        with grpc.insecure_channel(self._address) as channel:
            stub: Any = ValidationServiceStub(channel)
            try:
                if self._streamed:
                    list(stub.ValidateStream(iter([sent]), timeout=600))
                else:
                    stub.Validate(request, timeout=600)
                self.outcome = "OK", ""
            except grpc.RpcError as error:
                failed = cast("grpc.Call", error)
                self.outcome = failed.code().name, reason_of(failed)

    def wait(self) -> tuple[str, str] | None:
        """Return the status code and the reason."""
        self.join(SECONDS)
        return self.outcome


def reason_of(call: grpc.Call) -> str:
    """Return the reason in the status of *call*, or "" if it has none."""
    trailers: dict[str, Any] = dict(call.trailing_metadata() or ())
    for detail in Status.FromString(trailers.get("grpc-status-details-bin", b"")).details:
        info = ErrorInfo()
        if detail.Unpack(info):
            return str(info.reason)
    return ""


def begin_slow_call(running: RunningServer, *, streamed: bool = False) -> SlowCall:
    """Begin a call, and return once the server has accepted it."""
    connections = len(psutil.Process(running.process.pid).net_connections("tcp"))
    call = SlowCall(running, streamed=streamed)
    process = psutil.Process(running.process.pid)
    while len(process.net_connections("tcp")) == connections:
        threading.Event().wait(0.01)
    threading.Event().wait(1)
    return call


ATTACKS: list[Any] = [
    pytest.param(lambda server: flood_pings(server, 10, 100_000), id="pings"),
    pytest.param(lambda server: call_without_reading(server, 100), id="responses not read"),
    pytest.param(lambda server: call_without_end(server, 100), id="requests without end"),
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_peer_delays_the_stop(
    start: Callable[..., RunningServer], attack: Callable[[str], list[Peer]]
) -> None:
    """The exit code is that of an orderly stop; the unix socket is removed."""
    running = start("--grace-seconds", "1")
    connections = attack(running.address)
    running.process.terminate()
    code = running.process.wait(SECONDS)
    for connection in connections:
        connection.close()

    assert 0 == code
    assert not running.socket.exists()


@pytest.mark.parametrize("streamed", [False, True])
def test_stopped_workers_do_not_delay_the_stop(
    start: Callable[..., RunningServer], *, streamed: bool
) -> None:
    """The server kills them, and answers the call that waits for them."""
    running = start("--grace-seconds", "1")
    workers = stop_workers(running.process.pid)
    call = begin_slow_call(running, streamed=streamed)
    running.process.terminate()

    assert 0 == running.process.wait(SECONDS)
    assert ("UNAVAILABLE", "SHUTTING_DOWN") == call.wait()
    _, alive = psutil.wait_procs(workers, timeout=SECONDS)
    assert (2, []) == (len(workers), alive)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("period", ["--drain-seconds", "--grace-seconds"])
def test_a_second_signal_hurries_and_answers_every_call(
    start: Callable[..., RunningServer], period: str, number: int
) -> None:
    """It may arrive in either period; the client may retry the call."""
    flags = {"--drain-seconds": "0", "--grace-seconds": "1", period: NEVER}
    running = start(*(text for flag in flags.items() for text in flag))
    stop_workers(running.process.pid)
    call = begin_slow_call(running)
    running.process.terminate()
    running.wait_for("server.draining")
    threading.Event().wait(0.5)
    running.process.send_signal(number)

    assert 0 == running.process.wait(SECONDS)
    assert ("UNAVAILABLE", "SHUTTING_DOWN") == call.wait()


def test_a_second_signal_lets_a_call_finish(start: Callable[..., RunningServer]) -> None:
    """The call has the last second of the grace period."""
    running = start("--drain-seconds", NEVER)
    call = SlowCall(running)
    running.process.terminate()
    running.wait_for("server.draining")
    call.join(SECONDS)
    time.sleep(0.1)  # signals within 10 ms count as one
    running.process.terminate()

    assert (0, ("OK", "")) == (running.process.wait(SECONDS), call.wait())


def test_sighup_stops_the_server_in_order(start: Callable[..., RunningServer]) -> None:
    """The kernel sends SIGHUP when a terminal is closed."""
    running = start()
    running.process.send_signal(signal.SIGHUP)
    running.wait_for("server.draining")
    running.wait_for("server.stopped")

    assert 0 == running.process.wait(SECONDS)


def test_a_second_sighup_does_not_hurry(start: Callable[..., RunningServer]) -> None:
    """Service managers send one along with SIGTERM."""
    running = start("--drain-seconds", NEVER)
    running.process.terminate()
    running.wait_for("server.draining")
    running.process.send_signal(signal.SIGHUP)

    with pytest.raises(subprocess.TimeoutExpired):
        running.process.wait(3)


def test_nohup_keeps_the_server_alive(tmp_path: Path) -> None:
    """`nohup` ignores SIGHUP for the server, and the server does not change that."""
    server = subprocess.Popen(
        [
            *("nohup", sys.executable, "-m", "sidecheck_server", "serve"),
            *("--listen", "", "--unix-socket", str(tmp_path / "socket"), "--log-format", "json"),
        ],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        assert "server.ready" in server.stderr.readline()
        server.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            server.wait(3)
        server.terminate()
        assert 0 == server.wait(SECONDS)
    finally:
        server.kill()
        server.communicate()


def test_an_endless_thread_does_not_delay_the_exit() -> None:
    """A transaction of the registry on a disk that hangs is such a thread."""
    program = f"""
import asyncio, os, signal, time
from sidecheck_server.cli.serve import StopSignals, end_process

async def main():
    signals = StopSignals(1, 1, end_process)
    asyncio.get_running_loop().run_in_executor(None, time.sleep, {NEVER})
    os.kill(os.getpid(), signal.SIGTERM)
    await signals.wait()

asyncio.run(main())
"""
    process = subprocess.run([sys.executable, "-c", program], timeout=SECONDS, check=False)

    assert 0 == process.returncode
