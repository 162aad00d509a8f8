"""Fixtures for tests of the benchmarks."""

import importlib
from collections.abc import Callable
from types import ModuleType

import pytest
from support.shared_material import REPOSITORY


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Return what imports a module of the benchmarks, found where the scripts find it."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    return importlib.import_module
