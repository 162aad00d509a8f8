"""What a registry's file holds after its process was killed at any moment."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from sidecheck_server.core.types import Document
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding, Definition
from sidecheck_server.registry.sqlite import open_registry

Holding = dict[tuple[str, str], Binding]

NAMES = 12


def transaction(revision: int) -> tuple[str, list[Definition], frozenset[str] | None]:
    """Return the registration that leads to *revision*; each one changes something."""
    content = random.Random(revision)
    definitions = [
        Definition(
            f"d:{revision}:{place}",
            f"t{(revision + place) % NAMES}",
            content.randbytes(content.choice([50, 500, 20_000])),
            tuple(Document(f"urn:{i}", content.randbytes(100)) for i in range(place % 3)),
            f"in:{revision}",
            f"out:{revision}",
        )
        for place in range(1 + revision % NAMES)
    ]
    keep = frozenset({"t0", "t1"}) if revision % 3 == 0 else None
    return f"s{revision % 4}", definitions, keep


def follow(holding: Holding, revision: int) -> Holding:
    """Return what a registry that held *holding* holds at the next *revision*."""
    server, definitions, keep = transaction(revision)
    held = {
        key: binding
        for key, binding in holding.items()
        if keep is None or key[0] != server or key[1] in keep
    }
    for definition in definitions:
        held[server, definition.name] = Binding(server, definition, revision)
    return held


def register_until_killed(path: Path, last: int) -> None:
    """Register up to the revision *last*, and print each one once it is acknowledged."""
    registry = open_registry(path)
    while registry.revision < last:
        server, definitions, keep = transaction(registry.revision + 1)
        answer = registry.register(server, definitions, keep=keep)
        # A line goes out whole or not at all: it is one short write to a pipe.
        os.write(sys.stdout.fileno(), f"{answer.revision}\n".encode())
    time.sleep(60)


def holding_of(registry: Registry) -> Holding:
    bindings, _ = registry.page(None, None, 1 << 30, 1 << 60)
    return {(binding.server, binding.name): binding for binding in bindings}


def run_and_kill(path: Path, *, lines: int, seconds: float, last: int = sys.maxsize) -> list[int]:
    """Kill a registering process some time after its first *lines*; return what it printed."""
    with subprocess.Popen(
        [sys.executable, __file__, str(path), str(last)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        printed = b"".join(process.stdout.readline() for _ in range(lines))
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        printed += process.stdout.read()
        assert -signal.SIGKILL == process.wait()
    return [int(line) for line in printed.split()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """After each kill all acknowledged transactions are there, whole, and at most one more."""
    moments = random.Random(20260728)
    path = tmp_path / "registry.db"
    history: list[Holding] = [{}]
    revision = acknowledged = 0
    for round_ in range(6):
        # Two rounds in three strike while it registers, the third while it opens.
        lines = 0 if round_ % 3 == 2 else 1
        seconds = moments.uniform(0, 0.1) if lines else moments.uniform(0.05, 0.2)
        revisions = run_and_kill(path, lines=lines, seconds=seconds)
        assert list(range(revision + 1, revision + 1 + len(revisions))) == revisions
        acknowledged += len(revisions)

        with closing(open_registry(path)) as registry:
            assert registry.revision - revision - len(revisions) in (0, 1)
            while len(history) <= registry.revision:
                history.append(follow(history[-1], len(history)))
            assert history[-1] == holding_of(registry)
            revision = registry.revision
    assert acknowledged >= 6


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_log_that_breaks_off_holds_whole_transactions(tmp_path: Path) -> None:
    """Wherever the end of the log is lost, what is left is what one revision held."""
    # The log of few transactions: none of it may be in the file proper yet, which
    # SQLite only does with the part of the log that it has synced.
    path = tmp_path / "registry.db"
    last = 12
    run_and_kill(path, lines=last, seconds=0, last=last)
    history: list[Holding] = [{}]
    while len(history) <= last:
        history.append(follow(history[-1], len(history)))
    log = Path(f"{path}-wal").read_bytes()
    assert len(log) < 4_000_000  # https://www.sqlite.org/wal.html#automatic_checkpoint
    lengths = [len(log) * part // 12 for part in range(13)]
    found = []
    for length in lengths:
        copy = tmp_path / f"{length}.db"
        shutil.copy(path, copy)
        Path(f"{copy}-wal").write_bytes(log[:length])
        with closing(open_registry(copy)) as registry:
            assert history[registry.revision] == holding_of(registry)
            found.append(registry.revision)

    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, last)
    assert len(set(found)) > 3


if __name__ == "__main__":
    register_until_killed(Path(sys.argv[1]), int(sys.argv[2]))
