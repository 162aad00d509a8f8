"""Runs the command of its arguments as the proxy starts a server; prints what it prints."""

import subprocess
import sys

from sidecheck_server.proxy.stdio.batch_files import UnsafeArgumentError
from sidecheck_server.proxy.stdio.operating_system import GROUP_OPTIONS, resolve_command


def main() -> None:
    """Run the command."""
    try:
        command = resolve_command(sys.argv[1:])
    except UnsafeArgumentError as error:
        print(error)
        return
    is_line = isinstance(command, str)
    done = subprocess.run(
        command, shell=is_line, stdout=subprocess.PIPE, check=False, **GROUP_OPTIONS
    )
    print("shell" if is_line else "program", done.stdout.decode(), sep="\n", end="")


if __name__ == "__main__":
    main()
