"""Decisions: the index agrees with the files, and comments in code name accepted decisions."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generate.pages import REPOSITORY

_FOLDER = REPOSITORY / "docs" / "decisions"
_FILES = {path.name[:4]: path for path in sorted(_FOLDER.glob("[0-9]*.md"))}
_STATUS = r"accepted|rejected|superseded(?: by \d{4}|: .+)?"
_HEAD = re.compile(rf"# (\d+)\. (.+)\n\n\*\*Status:\*\* ({_STATUS})\n")
_ROW = re.compile(r"^\| (\d{4}) \| \[(.+)\]\((.+)\) \| (.+) \|$", re.MULTILINE)
_COMMENT = re.compile(r"(?:#|//)\s*Decision (\d+)\b(:?)")
_SOURCES = {".go", ".java", ".js", ".proto", ".py", ".rs", ".sh", ".toml", ".ts", ".yaml"}
_BUILT = {"dist", "generated", "node_modules", "target"}


def rows() -> dict[str, tuple[str, str, str]]:
    """Return title, file name and status of each row of the index, by number."""
    text = (_FOLDER / "index.md").read_text(encoding="utf-8")
    return {number: (title, name, status) for number, title, name, status in _ROW.findall(text)}


def comments() -> Iterator[tuple[str, str, str]]:
    """Yield the path, the number and the separator of each comment on a decision."""
    for path in (REPOSITORY / "Makefile", *_source_files()):
        for match in _COMMENT.finditer(path.read_text(encoding="utf-8")):
            yield str(path.relative_to(REPOSITORY)), match[1], match[2]


def _source_files() -> Iterator[Path]:
    for folder in ("service", "clients", "proto", "tests/conformance"):
        for path in sorted((REPOSITORY / folder).rglob("*")):
            parts = path.relative_to(REPOSITORY).parts
            if path.suffix in _SOURCES and not _BUILT & {*parts} and path.is_file():
                yield path


def test_numbers_are_consecutive() -> None:
    """This applies to the files and to the rows of the index."""
    expected = [f"{number:04}" for number in range(1, len(_FILES) + 1)]

    assert expected == [*_FILES]
    assert expected == [*rows()]


@pytest.mark.parametrize("path", _FILES.values(), ids=lambda path: path.stem)
def test_a_file_agrees_with_the_index(path: Path) -> None:
    """Number, title and status are equal."""
    head = _HEAD.match(path.read_text(encoding="utf-8"))

    assert head
    assert int(path.name[:4]) == int(head[1])
    assert rows()[path.name[:4]] == (head[2], path.name, head[3])


def test_a_superseded_decision_names_an_accepted_one() -> None:
    """It may name none."""
    statuses = {number: status for number, (_, _, status) in rows().items()}
    named = [status[-4:] for status in statuses.values() if status.startswith("superseded by ")]

    assert [] == [number for number in named if statuses.get(number) != "accepted"]


def test_comments_name_accepted_decisions() -> None:
    """They have four digits, and a colon before the reason."""
    accepted = {number for number, (_, _, status) in rows().items() if status == "accepted"}

    assert [] == [
        (source, number)
        for source, number, colon in comments()
        if number not in accepted or not colon
    ]


def test_every_accepted_decision_is_linked_from_what_embodies_it() -> None:
    """One that nothing embodies is superseded."""
    accepted = {number for number, (_, _, status) in rows().items() if status == "accepted"}

    assert set() == accepted - {number for _, number, _ in comments()}
