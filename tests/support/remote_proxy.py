"""A running `sidecheck proxy --upstream` over stdio, and its client."""

import json
import os
import subprocess
import sys
from typing import Any

from support.stdio_proxy import Proxy

__all__ = ["RemoteProxy"]


class RemoteProxy(Proxy):
    """A running `sidecheck proxy` over stdio before the server at a URL."""

    def __init__(self, url: str, *options: str, env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sidecheck_server", "proxy", "--upstream", url, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )

    def receive(self) -> Any:
        """Return the next message for the client that is no notification."""
        while True:
            message = json.loads(self.line())
            if "id" in message:
                return message
