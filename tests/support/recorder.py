"""Relay of a server's stdio that records it: `recorder.py FILE COMMAND...`.

Each line of the record is the sending side and the line; messages are not parsed.
"""

import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO


def main() -> int:
    """Return the exit code of the command."""
    with (
        Path(sys.argv[1]).open("wb", buffering=0) as record,
        subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        client = threading.Thread(
            target=relay, args=(sys.stdin.buffer, server.stdin, b"client ", record), daemon=True
        )
        client.start()
        relay(server.stdout, sys.stdout.buffer, b"server ", record)
        return server.wait()


def relay(source: IO[bytes], target: IO[bytes], side: bytes, record: IO[bytes]) -> None:
    """Write the lines of *source* to *target* and *record*, and close *target*."""
    with target, suppress(BrokenPipeError):
        for line in source:
            record.write(side + line)
            target.write(line)
            target.flush()


if __name__ == "__main__":
    sys.exit(main())
