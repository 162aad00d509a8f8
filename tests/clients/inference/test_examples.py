"""The examples of tools from functions, made tools by running their source.

The server infers the same from the text alone, and is held to the same file.
"""

import json
import linecache
from collections.abc import Iterator
from itertools import count
from types import ModuleType
from typing import Any

import pytest
from sidecheck.inference import InferenceError, tool_config, tool_definition
from sidecheck.tool_functions import ATTRIBUTE
from support.shared_material import REPOSITORY

_FOLDER = REPOSITORY / "tests" / "cases" / "infer"
_EXAMPLES = [
    pytest.param(case, id=case["name"])
    for case in json.loads((_FOLDER / "examples.json").read_text())["cases"]
]
_numbers = count()


@pytest.fixture
def ran() -> Iterator[Any]:
    """Return what runs a source and returns its names, its lines known to tracebacks."""
    files: list[str] = []

    def run(source: str) -> dict[str, Any]:
        files.append(f"<example {next(_numbers)}>")
        linecache.cache[files[-1]] = (
            len(source),
            None,
            source.splitlines(keepends=True),
            files[-1],
        )
        module = ModuleType("example")
        exec(compile(source, files[-1], "exec", dont_inherit=True), vars(module))
        return vars(module)

    yield run
    for file in files:
        del linecache.cache[file]


@pytest.mark.parametrize("case", _EXAMPLES)
def test_an_example_is_what_the_case_says(case: dict[str, Any], ran: Any) -> None:
    """Its definitions in their order, and what is told: the code and, of an error, the line."""
    tools, told = [], []
    try:
        names = ran(case["source"])
    except InferenceError as error:
        told.append([error.code, error.line])
        names = {}
    for one in names.values():
        if hasattr(one, ATTRIBUTE):
            tools.append(tool_definition(one))
            told += [[found.code, found.line] for found in tool_config(one).diagnostics]
    wanted = case["want"]
    assert wanted["tools"] == tools
    assert [found[:2] for found in wanted["diagnostics"]] == told
