"""Fixtures for all tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.running import RunningServer


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that all tests share, for what leaves nothing behind in it."""
    running = RunningServer(tmp_path_factory.mktemp("server"))
    yield running
    running.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """A server of the test's own, with an empty registry."""
    running = RunningServer(tmp_path)
    yield running
    running.close()
