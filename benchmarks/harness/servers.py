"""Servers in separate processes: Sidecheck, and the bare gRPC server."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["RunningServer", "echo", "free_port", "sidecheck", "terminating", "wait_for_port"]

_START_SECONDS = 60.0
_ECHO = Path(__file__).resolve().parent.parent / "programs" / "echo.py"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server."""

    process: psutil.Process
    #: "host:port".
    tcp: str
    socket: Path

    def address(self, transport: str) -> str:
        """Return the address for a transport, "tcp" or "unix"."""
        return self.tcp if transport == "tcp" else f"unix:{self.socket}"

    def processor_seconds(self) -> float:
        """Return the processor time of the server without its workers, in seconds."""
        times = [process.cpu_times() for process in self._serving()]
        return sum(usage.user + usage.system for usage in times)

    def resident_bytes(self) -> int:
        """Return the resident memory of the server without its workers, in bytes."""
        return sum(process.memory_info().rss for process in self._serving())

    def _serving(self) -> list[psutil.Process]:
        """Return the first process, and those that serve."""
        return [
            self.process,
            *(
                child
                for child in self.process.children()
                if "sidecheck_server.server.serving" in child.cmdline() or child.name() == "envoy"
            ),
        ]


@contextmanager
def sidecheck(folder: Path, *flags: str, **environment: str) -> Iterator[RunningServer]:
    """Run `sidecheck serve` with a registry in memory and its default log in a file.

    *environment* holds settings as variables.

    Raises:
        AssertionError: the server did not start, or it rejected calls.
    """
    socket, log = folder / "sidecheck.sock", folder / "sidecheck.log"
    with log.open("wb") as events:
        process = subprocess.Popen(  # noqa: S603  (our own command)
            [
                *(sys.executable, "-m", "sidecheck_server", "serve", "--listen", "127.0.0.1:0"),
                *(() if "--processes" in flags else ("--unix-socket", str(socket))),
                *flags,
            ],
            stderr=events,
            env={**os.environ, **environment},
        )
    with terminating(process):
        address = _wait(process, log)
        yield RunningServer(psutil.Process(process.pid), address, socket)
        failures = [event for event in _events(log) if event in {"rpc.rejected", "rpc.failed"}]
        if failures:
            raise AssertionError(f"the server rejected {len(failures)} calls")


@contextmanager
def echo(folder: Path, responses: Mapping[str, bytes]) -> Iterator[RunningServer]:
    """Run a gRPC server with a fixed response for each path."""
    socket = folder / "echo.sock"
    pairs = []
    for number, (path, response) in enumerate(responses.items()):
        file = folder / f"response-{number}.bin"
        file.write_bytes(response)
        pairs.append(f"{path}={file}")
    process = subprocess.Popen(  # noqa: S603  (our own command)
        [sys.executable, str(_ECHO), str(socket), *pairs], stdout=subprocess.PIPE, text=True
    )
    with terminating(process):
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise AssertionError("the echo server did not start")
        yield RunningServer(psutil.Process(process.pid), address, socket)


def _wait(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text(encoding="utf-8").splitlines():
            event = json.loads(line) if line.startswith("{") and line.endswith("}") else {}
            if event.get("event") == "server.ready":
                return str(event["addresses"][0])
        time.sleep(0.05)
    raise AssertionError(f"the server did not start: {log.read_text(encoding='utf-8')[-2000:]}")


def _events(log: Path) -> Iterator[str]:
    for line in log.read_text(encoding="utf-8").splitlines():
        if line.startswith("{"):
            yield json.loads(line)["event"]


def free_port() -> int:
    """Return a TCP port that no server uses."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def wait_for_port(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Wait until *process* listens at *port*.

    Raises:
        AssertionError: it does not.
    """
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server did not start")


@contextmanager
def terminating(process: "subprocess.Popen[bytes] | subprocess.Popen[str]") -> Iterator[None]:
    """Terminate *process* at the end of the block."""
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
