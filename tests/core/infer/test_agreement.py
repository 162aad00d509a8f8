"""Agreement with pydantic: the same schemas, from text alone, as it writes of running code."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.inference_types import DEFAULTS, TYPES
from support.inferring import by_pydantic, infer, running

# What the types below are made of. Only tests run it.
PRELUDE = (Path(__file__).with_name("prelude.txt")).read_text()

# Results of which a client learns nothing: they have no output schema.
_SAYING_NOTHING: tuple[dict[str, Any], ...] = ({}, {"type": "null"})
_EACH = [(each, "") for each in TYPES] + [(each, f" = {default}") for each, default in DEFAULTS]
_SOURCE = PRELUDE + "".join(
    f"\n@tool\ndef f{number}(a: {annotation}{default}) -> {annotation}: ...\n"
    for number, (annotation, default) in enumerate(_EACH)
)


@pytest.fixture(scope="module")
def inferred() -> dict[str, dict[str, Any]]:
    """What the text gives, by function."""
    found = infer(_SOURCE)
    assert () == found.diagnostics
    return {one.function: json.loads(one.json) for one in found.tools}


@pytest.fixture(scope="module")
def module() -> Iterator[ModuleType]:
    """The text, run."""
    with running(_SOURCE) as module:
        yield module


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(f"f{number}", id=f"{annotation}{default}")
        for number, (annotation, default) in enumerate(_EACH)
    ],
)
def test_the_schemas_are_those_that_pydantic_writes(
    function: str, inferred: dict[str, dict[str, Any]], module: ModuleType
) -> None:
    """Of the type as it is read, with its default, and as it is written."""
    want_input, want_output = by_pydantic(module, function)
    got = inferred[function]

    assert want_input == got["inputSchema"]
    if _says_something(want_output):
        assert want_output == got["outputSchema"]
    else:
        assert "outputSchema" not in got


def _says_something(schema: dict[str, Any]) -> bool:
    bare = schema.get("type") == "array" and schema.get("items", True) == {}
    bare = bare or schema.get("maxItems") == 0
    told = schema not in _SAYING_NOTHING and schema.get("format") != "binary"
    return told and not bare
