"""Check for retired identifiers in every spelling."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from support.shared_material import REPOSITORY

SCRIPT = REPOSITORY / ".ci" / "check_names.py"
NAMES = """\
# comment
old_name -> new_name
Former -> Current | service/* !service/kept/*
blob -> bytes or text
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_names", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("identifier", "replacement"),
    [
        ("old_name", "new_name"),
        ("_old_name", "new_name"),
        ("OLD_NAME", "NEW_NAME"),
        ("X__OLD_NAME", "NEW_NAME"),
        ("oldName", "newName"),
        ("OldName", "NewName"),
        ("GetOldName", "GetNewName"),
        ("--old-name", "--new-name"),
        ("blob", "bytes or text"),
    ],
)
def test_find_every_spelling(script: ModuleType, identifier: str, replacement: str) -> None:
    """The replacement has the spelling of the identifier."""
    text = f"first line\nx.{identifier}=1\n"
    [message] = script.find_retired("a.py", text, script.read_names(NAMES))
    old = identifier.removeprefix("X__").strip("_")

    assert f"a.py:2: `{old}`; use `{replacement}`" == message


@pytest.mark.parametrize("text", ["old_names", "my_old_name", "name", "blobs", "Blob", "old-name"])
def test_ignore_other_identifiers(script: ModuleType, text: str) -> None:
    """An identifier that merely contains a retired name is ignored."""
    assert [] == list(script.find_retired("a.py", text, script.read_names(NAMES)))


@pytest.mark.parametrize(
    ("path", "count"),
    [("service/a.py", 1), ("service/b/c.py", 1), ("service/kept/a.py", 0), ("tests/a.py", 0)],
)
def test_limit_a_name_to_paths(script: ModuleType, path: str, count: int) -> None:
    """Globs after the bar restrict a name to paths."""
    assert count == len(list(script.find_retired(path, "Former", script.read_names(NAMES))))


def test_reject_a_malformed_line(script: ModuleType) -> None:
    """The error has the line number."""
    with pytest.raises(ValueError, match=r"retired_names.txt:2: expected `old -> new`"):
        script.read_names("a -> b\nc d\n")


def test_every_retired_name_is_listed_once(script: ModuleType) -> None:
    """No retired name is the replacement of another."""
    names = script.read_names((REPOSITORY / ".ci" / "retired_names.txt").read_text())
    listed = [name for entries in names.values() for name, _ in entries]
    retired = [name.old for name in {*listed}]

    assert len(retired) == len(set(retired))
    assert set() == set(retired) & {name.new for name in listed}


def test_retired_names_set_the_exit_status(
    script: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Binary and absent files are skipped."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "retired_names.txt").write_text(NAMES)
    (tmp_path / "a.py").write_text("old_name\nfine\nold_name, old_name\n")
    (tmp_path / "b.py").write_text("new_name\n")
    (tmp_path / "c.bin").write_bytes(b"\xff old_name")
    monkeypatch.setattr(script, "_ROOT", tmp_path)

    assert 0 == script.main(["b.py", "c.bin", "absent.py", ".ci/retired_names.txt"])
    assert 1 == script.main(["a.py", "b.py"])
    assert [
        "a.py:1: `old_name`; use `new_name`",
        "a.py:3: `old_name`; use `new_name`",
    ] == capsys.readouterr().out.splitlines()
