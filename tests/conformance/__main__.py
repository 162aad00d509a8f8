"""Starts the servers, writes the cases, and runs a command that tests a client.

From the folder ``tests``: ``python -m conformance [--directory FOLDER] [--keep FOLDER]
COMMAND...``. Prints the row of the matrix and exits with the status of the command.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.matrix import format_matrix, read_outcomes
from conformance.servers import running_servers

__all__ = ["main"]


def main() -> int:
    """Run the command of the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="conformance", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--directory", type=Path, help="folder to run the command in")
    parser.add_argument("--keep", type=Path, help="folder for the cases and results")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND...")
    options = parser.parse_args()
    if not options.command:
        parser.error("a command is required")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with running_servers(folder.resolve()) as settings:
            environment = {**os.environ, "SIDECHECK_CONFORMANCE": str(settings)}
            command = subprocess.run(
                options.command, cwd=options.directory, env=environment, check=False
            )
            outcomes = read_outcomes(json.loads(settings.read_text()))
        print(format_matrix({Path(options.command[0]).name: outcomes}))
    return command.returncode


if __name__ == "__main__":
    sys.exit(main())
