"""A running `sidecheck proxy` over stdio, and its client."""

import json
import os
import subprocess
import sys
from typing import Any

from support.finding_lines import codes
from support.shared_material import REPOSITORY

__all__ = ["HANDSHAKE", "PROXY", "SECONDS", "SERVER", "Proxy", "codes"]

SERVER = [sys.executable, str(REPOSITORY / "tests" / "support" / "scripted_server.py")]
# On a busy machine, validation starts late.
_COMMAND = [sys.executable, "-m", "sidecheck_server", "proxy", "--finish-seconds", "300"]
PROXY = [*_COMMAND, "--"]
SECONDS = 300

HANDSHAKE: list[dict[str, Any]] = [
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "client", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
]


class Proxy:
    """A running `sidecheck proxy` after the handshake."""

    def __init__(
        self, *options: str, server: list[str] = SERVER, env: dict[str, str] | None = None
    ) -> None:
        self.process = subprocess.Popen(
            [*_COMMAND, *options, "--", *server],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )

    def shake_hands(self) -> None:
        """Initialize the session."""
        self.send(HANDSHAKE[0])
        assert 1 == self.receive()["id"]
        self.send(HANDSHAKE[1])

    def send(self, message: Any) -> None:
        """Send *message*."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def call(self, id_: int, **arguments: Any) -> None:
        """Call the tool of the server."""
        params = {"name": "echo", "arguments": arguments}
        self.send({"id": id_, "method": "tools/call", "params": params})

    def write(self, text: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def line(self) -> bytes:
        """Return the next line for the client; b"" at the end."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def receive(self) -> Any:
        """Return the next message for the client."""
        return json.loads(self.line())

    def end_input(self) -> None:
        """Close the input of the proxy."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None

    def end(self) -> tuple[int, list[Any], str]:
        """Close the input; return the exit code, the remaining messages and standard error."""
        out, err = self.process.communicate(timeout=SECONDS)
        return (
            self.process.returncode,
            [json.loads(line) for line in out.splitlines()],
            err.decode(),
        )
