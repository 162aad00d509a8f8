"""Application in a pod with Sidecheck: calls it, and prints the outcome.

A container of the image runs this text. As its first process, it then waits for SIGTERM.
"""

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

from sidecheck import BlockingClient, RegisteredTool

TOOL = {"name": "greet", "inputSchema": {"type": "object", "required": ["name"]}}
FOLDERS = ("/", "/run/sidecheck", "/tmp")


def main() -> None:
    """Register a tool, and validate arguments that have a name and that have none."""
    writable = []
    for folder in FOLDERS:
        with suppress(OSError):
            Path(folder, "file").write_text("")
            writable.append(folder)
    with BlockingClient(os.environ["VALIDATION_TARGET"], timeout=120) as client:
        names = [tool.name for tool in client.list("weather")]
        client.register("weather", [TOOL])
        verdicts = [
            client.validate(RegisteredTool("weather", "greet"), arguments).valid
            for arguments in ({"name": "Ada"}, {})
        ]
    outcome = {
        "groups": os.getgroups(),
        "writable": writable,
        "registered": names,
        "verdicts": verdicts,
    }
    print(json.dumps(outcome), flush=True)


if os.getpid() == 1:
    # The first process of a container has no default action for signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
main()
if os.getpid() == 1:
    signal.sigwait({signal.SIGTERM})
