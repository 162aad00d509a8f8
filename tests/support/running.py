"""A real server in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

__all__ = ["IS_ENVOY", "RunningServer"]

_START_SECONDS = 180.0

IS_ENVOY = os.environ.get("SIDECHECK_SERVER") == "envoy"
"""Whether the tests run over Envoy."""

# Limits of steps and bytes end the work. On a busy machine, workers, which have a low priority,
# may take many times as long, and must not be killed for that.
_PATIENT = {
    "SIDECHECK_LIMITS__COMPILE_SECONDS": "300",
    "SIDECHECK_LIMITS__VALIDATION_SECONDS": "300",
    "SIDECHECK_LIMITS__WORKER_WAIT_SECONDS": "300",
}


class RunningServer:
    """A ready `sidecheck serve`, on a free port, and on a unix socket where one is possible."""

    def __init__(self, folder: Path, *flags: str, **environment: str) -> None:
        self.socket = folder / "sidecheck.sock"
        no_socket = "--processes" in flags or (
            "--tls-cert" in flags and (IS_ENVOY or "envoy" in flags)
        )
        socket = () if no_socket else ("--unix-socket", str(self.socket))
        self.events: list[dict[str, Any]] = []
        self._lines: Queue[str | None] = Queue()
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "sidecheck_server", "serve"),
                *("--listen", "127.0.0.1:0", *socket),
                *("--log-format", "json", "--log-level", "debug", *flags),
            ],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **_PATIENT, **environment},
        )
        self._is_read = threading.Event()
        self._is_read.set()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.address = ""
        self.unix_address = f"unix:{self.socket}"
        try:
            ready = self.wait_for("server.ready")
        except AssertionError:
            self.close()
            raise
        self.address = ready["addresses"][0]

    @property
    def admin_address(self) -> str:
        """Host and port of the admin address, which a setting must enable."""
        [ready] = [event for event in self.events if event["event"] == "admin.ready"]
        return str(ready["address"]).removeprefix("http://")

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._is_read.wait()
            self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, event: str) -> dict[str, Any]:
        """Return the next event with that name in the log."""
        while True:
            try:
                line = self._lines.get(timeout=_START_SECONDS)
            except Empty:
                raise AssertionError(f"the server did not log {event}") from None
            if line is None:
                raise AssertionError(f"the server ended before it logged {event}")
            if re.match(r"\{", line):
                self.events.append(json.loads(line))
                if self.events[-1]["event"] == event:
                    return self.events[-1]

    def log_text(self) -> str:
        """Return the log so far."""
        while True:
            try:
                line = self._lines.get(timeout=0.5)
            except Empty:
                break
            if line is None:
                break
            self.events.append(json.loads(line))
        return "\n".join(json.dumps(event) for event in self.events)

    @contextmanager
    def log_unread(self) -> Iterator[None]:
        """Suspend reading the log in the block, so that its pipe fills."""
        self._is_read.clear()
        try:
            yield
        finally:
            self._is_read.set()

    def terminate(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=180)

    def close(self) -> None:
        """Stop the server, which may have exited."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
