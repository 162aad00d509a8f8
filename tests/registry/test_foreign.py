"""Errors of files that are not a registry."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sidecheck_server.core.types import Document
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.sqlite import open_registry
from support.definitions import define_tool

TOOL = define_tool("tool", {"outputSchema": {"type": "object"}}, (Document("urn:d", b"[1]"),))
BARE = define_tool("bare")


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
    change(path, "PRAGMA user_version = 3")


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
    """Create a registry with two tools, then execute *statement* on its database."""
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
            id="database of another program",
        ),
        pytest.param(
            write_marked_database, "its application_id is 0x0f055111", id="another application"
        ),
        pytest.param(
            write_later_format,
            "is a registry of format 3, and this release reads format 2; "
            "use the release that wrote it, or name a file that does not exist yet",
            id="another format",
        ),
        pytest.param(write_without_documents, "no such table: document", id="missing table"),
        pytest.param(write_without_revision, "is damaged: it has no revision", id="no revision"),
        pytest.param(
            write_document_without_tool,
            "documents of tools that it lacks",
            id="document without a tool",
        ),
        pytest.param(write_undecodable_name, "Could not decode to UTF-8", id="undecodable name"),
        pytest.param(write_overwritten_page, "is damaged", id="overwritten"),
        pytest.param(write_cut_off, "is damaged", id="cut off"),
        pytest.param(make_folder, "cannot be opened; name a file, not a folder", id="a folder"),
    ],
)
def test_files_that_are_not_a_registry_are_rejected(
    tmp_path: Path, write: Callable[[Path], None], message: str
) -> None:
    """The error names the file and the reason; the file is unchanged."""
    path = tmp_path / "registry.db"
    write(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(RegistryUnusable, match=re.escape(message)) as error:
        open_registry(path)

    assert str(error.value).startswith(str(path))
    assert before == (path.read_bytes() if path.is_file() else None)
    assert [path] == list(tmp_path.iterdir())


def test_an_absent_folder_is_rejected(tmp_path: Path) -> None:
    """The parent folder of a registry is not created."""
    path = tmp_path / "absent" / "registry.db"
    with pytest.raises(
        RegistryUnusable, match=re.escape(f"the folder {path.parent} does not exist")
    ):
        open_registry(path)
