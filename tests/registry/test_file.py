"""File of the registry: its content and its lock."""

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
    BindingResult,
    RegistrationResult,
    RemovalResult,
)
from sidecheck_server.registry.sqlite import open_registry
from support.definitions import define_tool

DOCUMENTS = (Document("urn:z", b"[1]"), Document("urn:a", b"[2]"), Document("urn:m", b"[1]"))
TOOL = define_tool("tool", {"outputSchema": {"type": "object"}, "b": 1, "a": 2}, DOCUMENTS)
BARE = define_tool("bare", version="2026-07-28")


@contextmanager
def child(code: str, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    """Run *code* in another Python process with the same path; kill it on exit."""
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


def all_bindings(registry: Registry) -> tuple[Binding, ...]:
    return registry.page(None, None, 1 << 30, 1 << 60)[0]


def test_bindings_persist_after_reopening(tmp_path: Path) -> None:
    """Bytes, document order, schemas, revisions and the revision counter are stored."""
    path = tmp_path / "registry.db"
    registry = open_registry(path)
    registry.register("s", [BARE], keep=None)
    registry.register("s", [TOOL], keep=None)
    registry.register("t", [TOOL, BARE], keep=None)
    registry.delete("t", ["bare"])
    registry.close()

    registry = open_registry(path)
    expected = (Binding("s", BARE, 1), Binding("s", TOOL, 2), Binding("t", TOOL, 3))
    assert expected == all_bindings(registry)
    assert registry.revision == 4
    assert registry.count() == 3
    assert registry.schema(BARE.input_schema_digest) == (BARE, "input")
    assert registry.schema(TOOL.input_schema_digest) == (TOOL, "input")
    assert RegistrationResult(
        (BindingResult(Action.UNCHANGED, TOOL.digest),), (), 4
    ) == registry.register("s", [TOOL], keep=None)
    assert RemovalResult(("bare", "tool"), (), 5) == registry.delete("s", None)
    registry.close()


def test_thousands_of_tools_fit_in_one_transaction(tmp_path: Path) -> None:
    """A set of any size is registered, replaced and removed in one transaction."""
    path = tmp_path / "registry.db"
    tools = [define_tool(f"t{i:04}", documents=(Document(f"urn:{i}", b"1"),)) for i in range(2500)]
    with closing(open_registry(path)) as registry:
        registry.register("s", tools, keep=None)
        registry.register("s", tools[1200:], keep=frozenset({"t0000"}))
    with closing(open_registry(path)) as registry:
        names = ["t0000", *(tool.name for tool in tools[1200:])]
        assert names == [binding.name for binding in all_bindings(registry)]
        assert RemovalResult(tuple(names), (), 3) == registry.delete("s", None)
    with closing(open_registry(path)) as registry:
        assert (0, 3) == (registry.count(), registry.revision)


def test_registries_in_memory_are_independent() -> None:
    """Registries in memory do not share content."""
    with closing(open_registry(None)) as registry, closing(open_registry(None)) as second_registry:
        registry.register("s", [TOOL], keep=None)

        assert (second_registry.count(), second_registry.revision) == (0, 0)


def test_the_path_is_not_interpreted_by_sqlite(tmp_path: Path) -> None:
    """A file name may contain what SQLite would read as a URI or as an in-memory database."""
    path = tmp_path / "file:reg istry?mode=memory#%41.db"
    open_registry(path).close()

    assert [path] == list(tmp_path.iterdir())


def test_a_commit_is_synced_to_a_write_ahead_log(tmp_path: Path) -> None:
    """The file is in WAL mode, and every commit is synced to disk."""
    registry: Any = open_registry(tmp_path / "registry.db")
    query = registry._database._connection.execute
    # 2 is FULL: https://www.sqlite.org/pragma.html#pragma_synchronous
    pragmas = ("journal_mode", "synchronous", "locking_mode", "foreign_keys")
    values = [query(f"PRAGMA {pragma}").fetchone()[0] for pragma in pragmas]
    registry.close()

    assert values == ["wal", 2, "exclusive", 1]


def test_a_file_cannot_be_opened_twice_in_one_process(tmp_path: Path) -> None:
    """The second opening raises an error; the first registry stays usable."""
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        with pytest.raises(RegistryInUse, match=re.escape(f"{path} is in use")):
            open_registry(path)
        registry.register("s", [TOOL], keep=None)
    with closing(open_registry(path)) as registry:
        assert (Binding("s", TOOL, 1),) == all_bindings(registry)


HOLD = """
import sys
from pathlib import Path
from sidecheck_server.registry import RegistryInUse
from sidecheck_server.registry.sqlite import open_registry
from support.definitions import define_tool
BARE = define_tool("bare", version="2026-07-28")
try:
    registry = open_registry(Path(sys.argv[1]))
    registry.register("s", [BARE], keep=None)
    print("open", flush=True)
except RegistryInUse:
    print("in use", flush=True)
sys.stdin.read()
"""


def test_a_file_is_locked_until_its_process_ends(tmp_path: Path) -> None:
    """The lock excludes other processes and is released when its process is killed."""
    path = tmp_path / "registry.db"
    with child(HOLD, path) as holder:
        assert first_line(holder) == "open\n"
        with pytest.raises(RegistryInUse):
            open_registry(path)
        holder.kill()  # SIGKILL: no handler, no clean-up
        holder.wait()
        with closing(open_registry(path)) as registry:
            assert (Binding("s", BARE, 1),) == all_bindings(registry)


def test_only_one_of_several_processes_opens_the_file(tmp_path: Path) -> None:
    """Of processes that concurrently open or create a file, exactly one succeeds."""
    path = tmp_path / "registry.db"
    with child(HOLD, path) as a, child(HOLD, path) as b, child(HOLD, path) as c:
        outputs = [first_line(process) for process in (a, b, c)]

    assert sorted(outputs) == ["in use\n", "in use\n", "open\n"]


def test_an_empty_file_becomes_a_registry(tmp_path: Path) -> None:
    """A file of zero bytes, as `mktemp` creates it, is initialized like an absent file."""
    path = tmp_path / "registry.db"
    path.touch()
    with closing(open_registry(path)) as registry:
        registry.register("s", [TOOL], keep=None)
    with closing(open_registry(path)) as registry:
        assert registry.count() == 1


def test_a_closed_registry_rejects_changes(tmp_path: Path) -> None:
    """A change that would not be durable is rejected and not visible to readers."""
    registry = open_registry(tmp_path / "registry.db")
    registry.register("s", [BARE], keep=None)
    registry.close()
    with pytest.raises(RegistryUnusable, match="closed"):
        registry.register("s", [TOOL], keep=None)
    with pytest.raises(RegistryUnusable, match="closed"):
        registry.delete("s", None)

    assert (Binding("s", BARE, 1),) == all_bindings(registry)
    assert registry.revision == 1


FILL = """
import resource, sys
from pathlib import Path
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.sqlite import open_registry
from support.definitions import define_tool
BARE = define_tool("bare", version="2026-07-28")
registry = open_registry(Path(sys.argv[1]))
registry.register("s", [BARE], keep=None)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
large = [
    define_tool(f"large{i}", spaces=50_000) for i in range(20)
]
try:
    registry.register("s", large, keep=frozenset())
except RegistryUnusable as error:
    print("rejected", registry.count(), registry.revision, flush=True)
registry.register("s", [define_tool("small")], keep=None)
print(registry.count(), registry.revision, flush=True)
sys.stdin.read()
"""


def test_a_failed_write_rolls_back_the_transaction(tmp_path: Path) -> None:
    """A transaction that does not fit on the disk changes nothing; smaller ones still succeed."""
    pytest.importorskip("resource")
    path = tmp_path / "registry.db"
    with child(FILL, path) as process:
        assert (first_line(process), first_line(process)) == ("rejected 1 1\n", "2 2\n")
    with closing(open_registry(path)) as registry:
        assert [(binding.name, binding.revision) for binding in all_bindings(registry)] == [
            ("bare", 1),
            ("small", 2),
        ]
