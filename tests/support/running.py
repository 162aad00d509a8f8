"""A real server in a process of its own, for tests."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any

__all__ = ["RunningServer"]

_START_SECONDS = 30.0


class RunningServer:
    """A `sidecheck serve` that is ready, on a free port and a unix socket."""

    def __init__(self, folder: Path, *flags: str, **environment: str) -> None:
        self.socket = folder / "sidecheck.sock"
        self.events: list[dict[str, Any]] = []
        self._lines: Queue[str | None] = Queue()
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "sidecheck_server", "serve"),
                *("--listen", "127.0.0.1:0", "--unix-socket", str(self.socket)),
                *("--log-format", "json", "--log-level", "debug", *flags),
            ],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.address = ""
        self.unix_address = f"unix:{self.socket}"
        ready = self.wait_for("server.ready")
        self.address = ready["addresses"][0]

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, event: str) -> dict[str, Any]:
        """Return the next event of that name that the server logs."""
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
        """Return everything that was logged so far."""
        while True:
            try:
                line = self._lines.get(timeout=0.2)
            except Empty:
                break
            if line is None:
                break
            self.events.append(json.loads(line))
        return "\n".join(json.dumps(event) for event in self.events)

    def terminate(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def close(self) -> None:
        """End the server however it stands."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
