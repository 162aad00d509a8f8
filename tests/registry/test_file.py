"""The registry's file: what it keeps, who may hold it, and what is not one."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from shared_material import read_records, shared
from sidecheck_server.core.words import Document
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


def test_a_registry_in_memory_is_empty() -> None:
    """One registry in memory knows nothing of another."""
    with closing(open_registry(None)) as one, closing(open_registry(None)) as other:
        one.register("s", [TOOL], keep=None)

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
    """Processes that open, and would create, a file at once find one owner for it."""
    path = tmp_path / "registry.db"
    with child(HOLD, path) as a, child(HOLD, path) as b, child(HOLD, path) as c:
        answers = [first_line(process) for process in (a, b, c)]

    assert sorted(answers) == ["in use\n", "in use\n", "open\n"]


def write_text(path: Path) -> None:
    path.write_text("server: tools\n" * 100)


def write_short_text(path: Path) -> None:
    path.write_text("hello")


def write_foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE person (name TEXT)")


def write_marked_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 252006673")  # a Fossil checkout
        connection.execute("CREATE TABLE person (name TEXT)")


def write_later_format(path: Path) -> None:
    change(path, "PRAGMA user_version = 2")


def write_without_documents(path: Path) -> None:
    change(path, "DROP TABLE document")


def write_without_revision(path: Path) -> None:
    change(path, "DELETE FROM registry")


def write_document_without_tool(path: Path) -> None:
    change(path, "INSERT INTO document VALUES ('s', 'x', 0, 'urn:d', X'00')")


def write_undecodable_name(path: Path) -> None:
    change(path, "UPDATE tool SET name = CAST(X'FF' AS TEXT) WHERE name = 'bare'")


def write_overwritten_page(path: Path) -> None:
    change(path, "SELECT 1")
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)


def write_cut_off(path: Path) -> None:
    change(path, "SELECT 1")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def make_folder(path: Path) -> None:
    path.mkdir()


def change(path: Path, statement: str) -> None:
    """Make a registry with two tools, and let *statement* at it."""
    with closing(open_registry(path)) as registry:
        registry.register("s", [TOOL, BARE], keep=None)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        pytest.param(write_text, "is not a SQLite database; name a", id="text"),
        pytest.param(write_short_text, "is not a SQLite database; name a", id="short text"),
        pytest.param(
            write_foreign_database,
            "is another program's SQLite database: its application_id is 0x00000000, "
            "a registry's is 0x53635267; name a registry, or a file that does not exist yet",
            id="another database",
        ),
        pytest.param(
            write_marked_database, "its application_id is 0x0f055111", id="another application"
        ),
        pytest.param(
            write_later_format,
            "is a registry of format 2, and this release reads format 1; "
            "use the release that wrote it, or name a file that does not exist yet",
            id="another format",
        ),
        pytest.param(write_without_documents, "no such table: document", id="a table missing"),
        pytest.param(write_without_revision, "is damaged: it has no revision", id="no revision"),
        pytest.param(write_document_without_tool, "documents of tools that it lacks", id="orphan"),
        pytest.param(write_undecodable_name, "Could not decode to UTF-8", id="undecodable name"),
        pytest.param(write_overwritten_page, "is damaged", id="overwritten"),
        pytest.param(write_cut_off, "is damaged", id="cut off"),
        pytest.param(make_folder, "cannot be opened; name a file, not a folder", id="a folder"),
    ],
)
def test_what_is_not_a_registry_is_refused(tmp_path: Path, write: Any, message: str) -> None:
    """The refusal names the file and the reason, and leaves the file alone."""
    path = tmp_path / "registry.db"
    write(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(RegistryUnusable, match=re.escape(message)) as refusal:
        open_registry(path)

    assert str(refusal.value).startswith(str(path))
    assert before == (path.read_bytes() if path.is_file() else None)
    assert [path] == list(tmp_path.iterdir())


def test_an_absent_folder_is_refused(tmp_path: Path) -> None:
    """The folder of a registry is not made up."""
    path = tmp_path / "absent" / "registry.db"
    with pytest.raises(
        RegistryUnusable, match=re.escape(f"the folder {path.parent} does not exist")
    ):
        open_registry(path)


def test_an_empty_file_becomes_a_registry(tmp_path: Path) -> None:
    """A file of no bytes, as `mktemp` leaves, is as good as none."""
    path = tmp_path / "registry.db"
    path.touch()
    with closing(open_registry(path)) as registry:
        registry.register("s", [TOOL], keep=None)
    with closing(open_registry(path)) as registry:
        assert registry.count() == 1


def test_a_closed_registry_takes_no_changes(tmp_path: Path) -> None:
    """A change that would not be durable is refused, and is not seen by readers."""
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
except RegistryUnusable as refusal:
    print("refused", registry.count(), registry.revision, flush=True)
registry.register("s", [Definition("d:2", "small", b"", (), "in", None)], keep=None)
print(registry.count(), registry.revision, flush=True)
sys.stdin.read()
"""


def test_a_disk_that_refuses_a_change_undoes_all_of_it(tmp_path: Path) -> None:
    """A transaction that does not fit changes nothing, and smaller ones still go through."""
    pytest.importorskip("resource")
    path = tmp_path / "registry.db"
    with child(FILL, path) as process:
        assert (first_line(process), first_line(process)) == ("refused 1 1\n", "2 2\n")
    with closing(open_registry(path)) as registry:
        assert [(binding.name, binding.revision) for binding in everything(registry)] == [
            ("bare", 1),
            ("small", 2),
        ]


def corpus() -> dict[str, list[Definition]]:
    """Read real tools, each server's names distinct; digests need only be distinct."""
    servers: dict[str, dict[str, Definition]] = {}
    for record in read_records(shared("corpus/tools.jsonl.gz")):
        tool = record["tool"]
        schemas = [
            None if schema is None else json.dumps(schema, sort_keys=True)
            for schema in (tool["inputSchema"], tool.get("outputSchema"))
        ]
        text = json.dumps(tool, ensure_ascii=False).encode()
        definition = Definition(
            record["id"], tool["name"], text, (), f"sha256:{hash(schemas[0]):064x}", schemas[1]
        )
        server = record["prov"].get("server") or record["prov"]["repo"]
        servers.setdefault(server, {})[definition.name] = definition
    return {server: list(tools.values()) for server, tools in servers.items()}


def test_real_tools_come_back_and_cost_little_memory(tmp_path: Path) -> None:
    """Every byte of the corpus is kept, in less than 2 KB of memory beyond the JSON."""
    servers = corpus()
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        for server, tools in servers.items():
            registry.register(server, tools, keep=frozenset())
        expected = everything(registry)

    tracemalloc.start()
    with closing(open_registry(path)) as registry:
        memory, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert expected == everything(registry)
    size = sum(binding.definition.size for binding in expected)
    assert (memory - size) / len(expected) < 2_000
