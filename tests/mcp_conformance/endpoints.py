"""The server of the scenarios and a proxy before it, as processes of their own."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.shared_material import REPOSITORY

from mcp_conformance.suite import SuiteFailed

__all__ = ["proxied", "serving"]

_SECONDS = 60
"""For the end of a process; it is killed then."""

_URL = re.compile(r"http://127\.0\.0\.1:\d+")


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Yield the URL of a server of its own, which logs to *folder*."""
    with _started(["-m", "mcp_conformance.server"], folder / "server.txt") as address:
        yield f"{address}/mcp"


@contextmanager
def proxied(url: str, folder: Path) -> Iterator[str]:
    """Yield the URL of a proxy before the server at *url*; its findings go to *folder*.

    Every policy is on enforce. Tools are not pinned: the suite calls some that no list has.
    """
    words = [
        *("-m", "sidecheck_server", "proxy", "--upstream", url, "--listen", "127.0.0.1:0"),
        "--enforce",
    ]
    with _started(words, folder / "proxy.txt") as address:
        yield f"{address}/mcp"


@contextmanager
def _started(words: Sequence[str], log: Path) -> Iterator[str]:
    """Yield the address that a Python process prints first; end it afterwards.

    What it prints then goes to *log*.
    """
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=REPOSITORY / "tests",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output = process.stdout
    assert output is not None
    # A full pipe would stop the process.
    drain = threading.Thread(target=lambda: log.write_text(output.read()))
    try:
        match = next(filter(None, map(_URL.search, output)), None)
        if match is None:
            raise SuiteFailed(f"{' '.join(words)} does not start")
        drain.start()
        yield match[0]
    finally:
        process.terminate()
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if drain.ident is not None:
            drain.join()
        output.close()
