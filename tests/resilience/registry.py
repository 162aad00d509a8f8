"""Attacks on the registry: tools beyond its quota, a lost file, a full disk, altered bytes."""

import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import psutil
from sidecheck import BlockingClient, RegisteredTool, SidecheckError

__all__ = ["ReadingBystander", "alter_definition", "fill_registry", "full_disk", "register_one"]

_TIMEOUT = 120.0


def register_one(client: BlockingClient, server: str, name: str, size: int = 0) -> str:
    """Register a tool with a description of *size* bytes; return the action or error reason."""
    tool = {"name": name, "description": "x" * size, "inputSchema": {"type": "object"}}
    try:
        registration = client.register(server, [tool], timeout=_TIMEOUT)
    except SidecheckError as error:
        return error.reason
    return registration.outcomes[0].action.value


def fill_registry(
    address: str, tools: int, size: int, servers: int = 1, prefix: str = "t"
) -> Counter[str]:
    """Register *tools* of *size* bytes, one per call; return the number of each outcome."""
    with BlockingClient(address) as client:
        return Counter(
            register_one(client, f"flood-{number % servers}", f"{prefix}{number}", size)
            for number in range(tools)
        )


@contextmanager
def full_disk(process: int, size: int) -> Iterator[None]:
    """Limit the files of *process* to *size* bytes, as a full disk does."""
    limits = psutil.Process(process)
    soft, hard = limits.rlimit(resource.RLIMIT_FSIZE)
    limits.rlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        limits.rlimit(resource.RLIMIT_FSIZE, (soft, hard))


def alter_definition(path: Path, text: bytes, replacement: bytes) -> None:
    """Replace *text* of a definition in the closed registry at *path* by *replacement*."""
    content = path.read_bytes()
    assert content.count(text) == 1
    assert len(text) == len(replacement)
    path.write_bytes(content.replace(text, replacement))


class ReadingBystander:
    """Thread that validates against a registered tool again and again until its end."""

    def __init__(self, address: str, server: str, tool: str) -> None:
        self.outcomes: Counter[str] = Counter()
        self._target = RegisteredTool(server, tool)
        self._address = address
        self._stopping = Event()
        self._thread = Thread(target=self._read)

    def __enter__(self) -> "ReadingBystander":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _read(self) -> None:
        with BlockingClient(self._address) as client:
            while True:
                try:
                    verdict = client.validate(self._target, {}, timeout=_TIMEOUT)
                    self.outcomes["valid" if verdict.valid else "invalid"] += 1
                except SidecheckError as error:
                    self.outcomes[error.reason] += 1
                if self._stopping.wait(0.01):
                    return
