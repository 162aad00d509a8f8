"""The registry's file: its content and its lock."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sidecheck_server.core.types import Document
from sidecheck_server.registry import Registry, RegistryInUse, RegistryUnusable
from sidecheck_server.registry.definitions import (
    Action,
    Binding,
    Bound,
    Definition,
    Deleted,
    Registered,
)
from sidecheck_server.registry.sqlite import open_registry

DOCUMENTS = (Document("urn:z", b"[1]"), Document("urn:a", b"[2]"), Document("urn:m", b"[1]"))
TOOL = Definition("d:tool", "tool", b'{"b": 1, "a": 2}', DOCUMENTS, "in", "out")
BARE = Definition("d:bare", "bare", b"", (), "in", None)


@contextmanager
def child(code: str, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    """Run *code* in another Python, which has this one's path; end it at last."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def everything(registry: Registry) -> tuple[Binding, ...]:
    return registry.page(None, None, 1 << 30, 1 << 60)[0]


def test_what_is_registered_is_there_after_reopening(tmp_path: Path) -> None:
    """Bytes, documents in their order, schemas, revisions and the counter are kept."""
    path = tmp_path / "registry.db"
    registry = open_registry(path)
    registry.register("s", [BARE], keep=None)
    registry.register("s", [TOOL], keep=None)
    registry.register("t", [TOOL, BARE], keep=None)
    registry.delete("t", ["bare"])
    registry.close()

    registry = open_registry(path)
    expected = (Binding("s", BARE, 1), Binding("s", TOOL, 2), Binding("t", TOOL, 3))
    assert expected == everything(registry)
    assert registry.revision == 4
    assert registry.count() == 3
    assert registry.schema("in") == (BARE, "input")
    assert registry.schema("out") == (TOOL, "output")
    assert Registered((Bound(Action.UNCHANGED, "d:tool"),), (), 4) == registry.register(
        "s", [TOOL], keep=None
    )
    assert Deleted(("bare", "tool"), (), 5) == registry.delete("s", None)
    registry.close()


def test_thousands_of_tools_are_one_transaction(tmp_path: Path) -> None:
    """A set of any size is registered, replaced and removed concurrently."""
    path = tmp_path / "registry.db"
    tools = [
        Definition(f"d:{i}", f"t{i:04}", b"{}", (Document(f"urn:{i}", b"1"),), "in", None)
        for i in range(2500)
    ]
    with closing(open_registry(path)) as registry:
        registry.register("s", tools, keep=None)
        registry.register("s", tools[1200:], keep=frozenset({"t0000"}))
    with closing(open_registry(path)) as registry:
        names = ["t0000", *(tool.name for tool in tools[1200:])]
        assert names == [binding.name for binding in everything(registry)]
        assert Deleted(tuple(names), (), 3) == registry.delete("s", None)
    with closing(open_registry(path)) as registry:
        assert (0, 3) == (registry.count(), registry.revision)


def test_a_registry_in_memory_is_empty() -> None:
    """One registry in memory knows nothing of another."""
    with closing(open_registry(None)) as entry, closing(open_registry(None)) as other:
        entry.register("s", [TOOL], keep=None)

        assert (other.count(), other.revision) == (0, 0)


def test_the_path_is_taken_as_it_is(tmp_path: Path) -> None:
    """A file's name may have what SQLite would read as a URI, or as memory."""
    path = tmp_path / "file:reg istry?mode=memory#%41.db"
    open_registry(path).close()

    assert [path] == list(tmp_path.iterdir())


def test_a_commit_is_synced_to_a_write_ahead_log(tmp_path: Path) -> None:
    """The file is in WAL mode, and every commit waits for the disk."""
    registry: Any = open_registry(tmp_path / "registry.db")
    query = registry._database._connection.execute
    # 2 is FULL: https://www.sqlite.org/pragma.html#pragma_synchronous
    pragmas = ("journal_mode", "synchronous", "locking_mode", "foreign_keys")
    found = [query(f"PRAGMA {pragma}").fetchone()[0] for pragma in pragmas]
    registry.close()

    assert found == ["wal", 2, "exclusive", 1]


def test_a_file_is_not_opened_twice_in_one_process(tmp_path: Path) -> None:
    """The second opening is told so, and the first goes on."""
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        with pytest.raises(RegistryInUse, match=re.escape(f"{path} is in use")):
            open_registry(path)
        registry.register("s", [TOOL], keep=None)
    with closing(open_registry(path)) as registry:
        assert (Binding("s", TOOL, 1),) == everything(registry)


HOLD = """
import sys
from pathlib import Path
from sidecheck_server.registry import RegistryInUse
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.registry.definitions import Definition
try:
    registry = open_registry(Path(sys.argv[1]))
    registry.register("s", [Definition("d:bare", "bare", b"", (), "in", None)], keep=None)
    print("open", flush=True)
except RegistryInUse:
    print("in use", flush=True)
sys.stdin.read()
"""


def test_a_file_is_held_until_its_process_dies(tmp_path: Path) -> None:
    """Nobody else gets in while a process lives; once it is killed, nothing is in the way."""
    path = tmp_path / "registry.db"
    with child(HOLD, path) as holder:
        assert first_line(holder) == "open\n"
        with pytest.raises(RegistryInUse):
            open_registry(path)
        holder.kill()  # SIGKILL: no handler, no clean-up
        holder.wait()
        with closing(open_registry(path)) as registry:
            assert (Binding("s", BARE, 1),) == everything(registry)


def test_of_many_processes_one_gets_the_file(tmp_path: Path) -> None:
    """Processes that open, and would create, a file concurrently find one owner for it."""
    path = tmp_path / "registry.db"
    with child(HOLD, path) as a, child(HOLD, path) as b, child(HOLD, path) as c:
        answers = [first_line(process) for process in (a, b, c)]

    assert sorted(answers) == ["in use\n", "in use\n", "open\n"]


def test_an_empty_file_becomes_a_registry(tmp_path: Path) -> None:
    """A file of no bytes, as `mktemp` leaves, is as good as none."""
    path = tmp_path / "registry.db"
    path.touch()
    with closing(open_registry(path)) as registry:
        registry.register("s", [TOOL], keep=None)
    with closing(open_registry(path)) as registry:
        assert registry.count() == 1


def test_a_closed_registry_takes_no_changes(tmp_path: Path) -> None:
    """A change that would not be durable is rejected, and is not seen by readers."""
    registry = open_registry(tmp_path / "registry.db")
    registry.register("s", [BARE], keep=None)
    registry.close()
    with pytest.raises(RegistryUnusable, match="closed"):
        registry.register("s", [TOOL], keep=None)
    with pytest.raises(RegistryUnusable, match="closed"):
        registry.delete("s", None)

    assert (Binding("s", BARE, 1),) == everything(registry)
    assert registry.revision == 1


FILL = """
import resource, sys
from pathlib import Path
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.registry.definitions import Definition
registry = open_registry(Path(sys.argv[1]))
registry.register("s", [Definition("d:bare", "bare", b"", (), "in", None)], keep=None)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
large = [Definition(f"d:{i}", f"large{i}", b" " * 50_000, (), "in", None) for i in range(20)]
try:
    registry.register("s", large, keep=frozenset())
except RegistryUnusable as error:
    print("rejected", registry.count(), registry.revision, flush=True)
registry.register("s", [Definition("d:2", "small", b"", (), "in", None)], keep=None)
print(registry.count(), registry.revision, flush=True)
sys.stdin.read()
"""


def test_a_disk_that_rejects_a_change_undoes_all_of_it(tmp_path: Path) -> None:
    """A transaction that does not fit changes nothing, and smaller ones still go through."""
    pytest.importorskip("resource")
    path = tmp_path / "registry.db"
    with child(FILL, path) as process:
        assert (first_line(process), first_line(process)) == ("rejected 1 1\n", "2 2\n")
    with closing(open_registry(path)) as registry:
        assert [(binding.name, binding.revision) for binding in everything(registry)] == [
            ("bare", 1),
            ("small", 2),
        ]
