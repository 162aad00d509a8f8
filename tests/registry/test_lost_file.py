"""A file that is deleted, moved or replaced while a registry has it open."""

import re
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.definitions import RemovalResult
from sidecheck_server.registry.sqlite import open_registry
from support.definitions import define_tool

A, B = define_tool("a"), define_tool("b")


def log_of(path: Path) -> Path:
    return Path(f"{path}-wal")


def unlink(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_suffix(".old"))


def replace_by_a_copy(path: Path) -> None:
    copy = path.with_suffix(".copy")
    shutil.copy(path, copy)
    copy.replace(path)


def replace_by_an_empty_file(path: Path) -> None:
    path.unlink()
    path.touch()


def unlink_log(path: Path) -> None:
    log_of(path).unlink()


def replace_log_by_a_copy(path: Path) -> None:
    replace_by_a_copy(log_of(path))


def rename_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


@pytest.mark.parametrize(
    ("lose", "lost"),
    [
        (unlink, ""),
        (rename, ""),
        (replace_by_a_copy, ""),
        (replace_by_an_empty_file, ""),
        (unlink_log, "-wal"),
        (replace_log_by_a_copy, "-wal"),
        (rename_folder, ""),
    ],
)
def test_no_change_is_acknowledged_once_the_file_is_lost(
    tmp_path: Path, lose: Callable[[Path], None], lost: str
) -> None:
    """Reads go on; the error names the file and what to do, until the registry is reopened."""
    path = tmp_path / "folder" / "registry.db"
    path.parent.mkdir()
    with closing(open_registry(path)) as registry:
        registry.register("s", [A], keep=None)
        lose(path)
        for change in (
            lambda: registry.register("s", [B], keep=None),
            lambda: registry.delete("s", None),
        ):
            with pytest.raises(RegistryUnusable) as error:
                change()
            assert (
                f"{path}{lost} was deleted, moved or replaced while the server ran; no change is "
                "accepted until its file is restored and the server restarted"
            ) == str(error.value)
        assert [A] == [binding.definition for binding in registry.page(None, None, 9, 9999)[0]]
        assert registry.revision == 1


def test_a_file_that_comes_back_stays_lost(tmp_path: Path) -> None:
    """Its content may have changed, so the registry must be opened again."""
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        registry.register("s", [A], keep=None)
        path.rename(tmp_path / "away")
        with pytest.raises(RegistryUnusable):
            registry.delete("s", None)
        (tmp_path / "away").rename(path)
        with pytest.raises(RegistryUnusable, match="moved"):
            registry.delete("s", None)
    with closing(open_registry(path)) as registry:
        assert RemovalResult(("a",), (), 2) == registry.delete("s", None)


def test_a_deleted_log_loses_no_acknowledged_change(tmp_path: Path) -> None:
    """Closing writes the contents of the log into the file."""
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        registry.register("s", [A], keep=None)
        unlink_log(path)
        with pytest.raises(RegistryUnusable):
            registry.register("s", [B], keep=None)
    with closing(open_registry(path)) as registry:
        assert [A] == [binding.definition for binding in registry.page(None, None, 9, 9999)[0]]


def test_closing_leaves_the_files_that_replaced_it_alone(tmp_path: Path) -> None:
    """Another registry at the path, with a log of its own, keeps what it acknowledged."""
    path = tmp_path / "registry.db"
    first = open_registry(path)
    first.register("s", [A], keep=None)
    for file in (path, log_of(path)):
        file.rename(f"{file}.old")
    with closing(open_registry(path)) as second:
        second.register("s", [B], keep=None)
        first.close()
        assert log_of(path).exists()
        second.register("t", [B], keep=None)
    with closing(open_registry(path)) as registry:
        assert [("s", B), ("t", B)] == [
            (binding.server, binding.definition)
            for binding in registry.page(None, None, 9, 9999)[0]
        ]


def test_a_file_that_is_reached_by_a_link_is_watched(tmp_path: Path) -> None:
    """Both the link and what it leads to: SQLite names the log after the latter."""
    target, replacement, link = tmp_path / "target.db", tmp_path / "other.db", tmp_path / "link.db"
    link.symlink_to(target)
    with closing(open_registry(link)) as registry:
        registry.register("s", [A], keep=None)
        replacement.touch()
        link.unlink()
        link.symlink_to(replacement)
        with pytest.raises(RegistryUnusable, match=re.escape(f"{link} was deleted")):
            registry.register("s", [B], keep=None)
