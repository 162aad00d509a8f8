"""Child processes that never outlive the demo."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = ["running"]

#: Seconds that a child has to end after SIGTERM.
_GRACE_SECONDS = 10.0


@contextmanager
def running(
    command: Sequence[str | Path],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    output: IO[str] | int = subprocess.PIPE,
    messages: IO[str] | int = subprocess.PIPE,
) -> Iterator[subprocess.Popen[str]]:
    """Run *command* in *folder* for the duration of the block.

    It gets a session of its own, so that Ctrl-C reaches the demo alone and the demo
    ends its children in order.
    """
    process = subprocess.Popen(  # noqa: S603  (every command is the demo's own)
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=messages,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    # Pipes are closed last: a child that cannot write its last words ends in error.
    try:
        if process.poll() is None:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)
    finally:
        # Also when a second Ctrl-C cut the grace short.
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
