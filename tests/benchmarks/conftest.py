"""Fixtures for tests of the benchmarks."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType

import pytest
from support.shared_material import REPOSITORY

_BENCHMARKS = REPOSITORY / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import of a module of the benchmarks, by its path from their folder."""
    pytest.importorskip("matplotlib", reason="the group bench of pyproject.toml is not installed")
    monkeypatch.syspath_prepend(_BENCHMARKS)

    def load(path: str) -> ModuleType:
        if "." in path:
            return importlib.import_module(path)
        # A package of the tests, such as `inference`, may have the name of the script.
        name = f"benchmark_{path}"
        spec = importlib.util.spec_from_file_location(name, _BENCHMARKS / f"{path}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load
