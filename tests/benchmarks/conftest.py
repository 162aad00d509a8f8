"""Fixtures for tests of the benchmarks."""

import importlib
from collections.abc import Callable
from types import ModuleType

import pytest
from support.shared_material import REPOSITORY


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import of a module of the benchmarks, by its path from their folder."""
    pytest.importorskip("matplotlib", reason="the group bench of pyproject.toml is not installed")
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    return importlib.import_module
