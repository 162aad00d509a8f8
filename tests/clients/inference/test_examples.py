"""The shared cases of inference, made tools by running their source.

The server infers the same from the source text alone; tests/core/infer/test_cases.py runs
the same files.
"""

import json
import linecache
import sys
from collections.abc import Callable, Iterator
from itertools import count
from types import ModuleType
from typing import Any

import pytest
from sidecheck.inference import InferenceError, tool_config, tool_definition
from sidecheck.tool_functions import ATTRIBUTE
from support.shared_material import REPOSITORY

_FOLDER = REPOSITORY / "tests" / "cases" / "infer"
_CASES = [
    pytest.param(case, id=case["name"])
    for file in ("examples.json", "docstrings.json")
    for case in json.loads((_FOLDER / file).read_text())["cases"]
]
_numbers = count()


@pytest.fixture
def run_source(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Return a function that runs a source and returns its names."""
    files: list[str] = []

    def run(source: str) -> dict[str, Any]:
        file = f"<example {next(_numbers)}>"
        files.append(file)
        # Diagnostics take their lines from here.
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        module = ModuleType("example")
        # Pydantic looks up the module of a generic model.
        monkeypatch.setitem(sys.modules, "example", module)
        exec(compile(source, file, "exec", dont_inherit=True), vars(module))
        return vars(module)

    yield run
    for file in files:
        del linecache.cache[file]


@pytest.mark.parametrize("case", _CASES)
def test_a_case(case: dict[str, Any], run_source: Callable[[str], dict[str, Any]]) -> None:
    """Definitions are in order; diagnostics have code and line."""
    definitions, diagnostics = [], []
    try:
        names = run_source(case["source"])
    except InferenceError as error:
        diagnostics.append([error.code, error.line])
        names = {}
    for value in names.values():
        if hasattr(value, ATTRIBUTE):
            definitions.append(tool_definition(value))
            config = tool_config(value)
            diagnostics += [[warning.code, warning.line] for warning in config.diagnostics]
    expected = case["want"]
    assert expected["tools"] == definitions
    assert [diagnostic[:2] for diagnostic in expected["diagnostics"]] == diagnostics
