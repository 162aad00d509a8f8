"""File of the registry after its process is killed at an arbitrary moment."""

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
from support.definitions import define_tool

Bindings = dict[tuple[str, str], Binding]

NAMES = 12


def transaction(revision: int) -> tuple[str, list[Definition], frozenset[str] | None]:
    """Return the registration that leads to *revision*; each changes at least one binding."""
    content = random.Random(revision)
    definitions = [
        define_tool(
            f"t{(revision + place) % NAMES}",
            {
                "description": content.randbytes(content.choice([25, 250, 10_000])).hex(),
                "outputSchema": {"type": "object", "const": revision},
            },
            tuple(Document(f"urn:{i}", content.randbytes(100)) for i in range(place % 3)),
        )
        for place in range(1 + revision % NAMES)
    ]
    keep = frozenset({"t0", "t1"}) if revision % 3 == 0 else None
    return f"s{revision % 4}", definitions, keep


def apply_transaction(bindings: Bindings, revision: int) -> Bindings:
    """Return *bindings* after the transaction of the next *revision*."""
    server, definitions, keep = transaction(revision)
    updated = {
        key: binding
        for key, binding in bindings.items()
        if keep is None or key[0] != server or key[1] in keep
    }
    for definition in definitions:
        updated[server, definition.name] = Binding(server, definition, revision)
    return updated


def register_until_killed(path: Path, last: int) -> None:
    """Register up to the revision *last*, and print each revision when it is acknowledged."""
    registry = open_registry(path)
    while registry.revision < last:
        server, definitions, keep = transaction(registry.revision + 1)
        result = registry.register(server, definitions, keep=keep)
        # A line is written atomically: it is one short write to a pipe.
        os.write(sys.stdout.fileno(), f"{result.revision}\n".encode())
    time.sleep(60)


def bindings_of(registry: Registry) -> Bindings:
    bindings, _ = registry.page(None, None, 1 << 30, 1 << 60)
    return {(binding.server, binding.name): binding for binding in bindings}


def run_and_kill(path: Path, *, lines: int, seconds: float, last: int = sys.maxsize) -> list[int]:
    """Kill a registering process *seconds* after *lines* revisions; return all it printed."""
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
def test_acknowledged_transactions_survive_a_kill(tmp_path: Path) -> None:
    """After each kill, all acknowledged transactions are present and at most one more."""
    moments = random.Random(20260728)
    path = tmp_path / "registry.db"
    history: list[Bindings] = [{}]
    revision = acknowledged = 0
    for round_ in range(6):
        # Two of three rounds kill the process while it registers, the third while it opens.
        lines = 0 if round_ % 3 == 2 else 1
        seconds = moments.uniform(0, 0.1) if lines else moments.uniform(0.05, 0.2)
        revisions = run_and_kill(path, lines=lines, seconds=seconds)
        assert list(range(revision + 1, revision + 1 + len(revisions))) == revisions
        acknowledged += len(revisions)

        with closing(open_registry(path)) as registry:
            assert registry.revision - revision - len(revisions) in (0, 1)
            while len(history) <= registry.revision:
                history.append(apply_transaction(history[-1], len(history)))
            assert history[-1] == bindings_of(registry)
            revision = registry.revision
    assert acknowledged >= 6


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_truncated_log_has_whole_transactions(tmp_path: Path) -> None:
    """For any length of the log, the content is that of one revision."""
    # Few transactions, so that none is checkpointed into the database file yet: SQLite
    # only checkpoints the part of the log that is synced.
    path = tmp_path / "registry.db"
    last = 12
    run_and_kill(path, lines=last, seconds=0, last=last)
    history: list[Bindings] = [{}]
    while len(history) <= last:
        history.append(apply_transaction(history[-1], len(history)))
    log = Path(f"{path}-wal").read_bytes()
    assert len(log) < 4_000_000  # https://www.sqlite.org/wal.html#automatic_checkpoint
    lengths = [len(log) * part // 12 for part in range(13)]
    revisions = []
    for length in lengths:
        copy = tmp_path / f"{length}.db"
        shutil.copy(path, copy)
        Path(f"{copy}-wal").write_bytes(log[:length])
        with closing(open_registry(copy)) as registry:
            assert history[registry.revision] == bindings_of(registry)
            revisions.append(registry.revision)

    assert revisions == sorted(revisions)
    assert (revisions[0], revisions[-1]) == (0, last)
    assert len(set(revisions)) > 3


if __name__ == "__main__":
    register_until_killed(Path(sys.argv[1]), int(sys.argv[2]))
