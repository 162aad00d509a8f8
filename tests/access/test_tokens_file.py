"""The file of tokens while it changes."""

import os
from pathlib import Path

import pytest
from sidecheck_server.access.tokens import TokensFile, UnusableTokensError
from support.tokens import TOKENS, entry, tokens_file


class Watched:
    """A file of tokens, and the reported events."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.write_text(tokens_file())
        self.reports: list[tuple[int, str | None]] = []
        self.tokens = TokensFile(path, lambda *report: self.reports.append(report))
        self.tokens.load()

    def names(self) -> set[str]:
        """Return the names of the tokens that hold."""
        entries = (self.tokens.find(token) for token in TOKENS.values())
        return {identity.name for identity in entries if identity is not None}


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "tokens.toml")


ALL = {"validator", "registrar", "both", "admin", "limited"}


async def test_an_unchanged_file_is_not_reported(watched: Watched) -> None:
    """A changed modification time alone is not reported either."""
    os.utime(watched.path, (0, 0))
    await watched.tokens.refresh()

    assert ALL == watched.names()
    assert [] == watched.reports


async def test_a_changed_file_replaces_all_tokens(watched: Watched) -> None:
    """Removed tokens become invalid."""
    watched.path.write_text(f"{entry('admin', 'admin')}\n{entry('stranger', 'validate')}")
    await watched.tokens.refresh()
    await watched.tokens.refresh()

    assert {"admin", "stranger"} == watched.names()
    assert [(2, None)] == watched.reports


async def test_an_unusable_file_leaves_the_tokens_unchanged(watched: Watched) -> None:
    """Each fault and its repair are reported once."""
    for _ in range(2):
        watched.path.write_text("[[tokens]]")
        await watched.tokens.refresh()
    for _ in range(2):
        watched.path.unlink(missing_ok=True)
        await watched.tokens.refresh()
    watched.path.mkdir()
    await watched.tokens.refresh()
    watched.path.rmdir()
    assert ALL == watched.names()
    watched.path.write_text(tokens_file())
    await watched.tokens.refresh()

    faults = [fault and fault.split(":")[0] for _, fault in watched.reports]
    expected = ["is invalid", "does not exist", "is a folder; expected a regular file", None]
    assert expected == faults
    assert {5} == {count for count, _ in watched.reports}


def test_the_first_reading_fails_for_an_unusable_file(tmp_path: Path) -> None:
    """There is nothing that could hold instead."""
    tokens = TokensFile(tmp_path / "none", lambda *_: None)

    with pytest.raises(UnusableTokensError, match="does not exist"):
        tokens.load()
