"""The Sidecheck service, in a process of its own on a free port."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from demo.children import running

__all__ = ["NotReady", "Service", "running_service"]

_START_SECONDS = 180.0


class NotReady(Exception):
    """The service did not become ready; the message holds the end of its log."""


class Service:
    """A service that was started."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log

    def wait_for_address(self) -> str:
        """Return the address at which the service listens, as soon as it does.

        With port 0 the system chooses the port, and the event ``server.ready`` of the
        log names it.

        Raises:
            NotReady: The service ended, or was not ready in time.
        """
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            ended = self._process.poll() is not None
            # Only whole lines: the last one may be half written.
            for line in self._log.read_text().splitlines(keepends=True):
                if line.endswith("\n") and '"server.ready"' in line:
                    address: str = json.loads(line)["addresses"][0]
                    return address
            if ended:
                raise NotReady(f"the Sidecheck service ended before it was ready\n{self._end()}")
            time.sleep(0.05)
        raise NotReady(
            f"the Sidecheck service was not ready within {_START_SECONDS:g} s\n{self._end()}"
        )

    def _end(self) -> str:
        return "\n".join(self._log.read_text().splitlines()[-12:])


@contextmanager
def running_service(folder: Path) -> Iterator[Service]:
    """Run the service while the block lasts; its log stands in *folder*."""
    # What the caller has set for a service of their own is not meant for this one.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("SIDECHECK_")
    }
    command = [
        *(sys.executable, "-m", "sidecheck_server", "serve"),
        *("--listen", "127.0.0.1:0", "--log-format", "json"),
    ]
    path = folder / "service.log"
    # A file takes any amount of log; a pipe that nobody reads would stop the service.
    with (
        path.open("w") as log,
        running(command, folder=folder, environment=environment, output=log, messages=log) as one,
    ):
        yield Service(one, path)
