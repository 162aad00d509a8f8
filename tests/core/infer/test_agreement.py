"""Agreement with pydantic: the schemas it generates from the running source."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.inference import by_pydantic, infer, running
from support.inference_types import DEFAULTS, TYPES

# Definitions that the types use. Only tests run it.
PRELUDE = (Path(__file__).with_name("prelude.txt")).read_text()

# Uninformative output schemas are omitted.
_UNINFORMATIVE: tuple[dict[str, Any], ...] = ({}, {"type": "null"})
_CASES = [
    *((annotation, "") for annotation in TYPES),
    *((annotation, f" = {default}") for annotation, default in DEFAULTS),
]
_SOURCE = PRELUDE + "".join(
    f"\n@tool\ndef f{number}(a: {annotation}{default}) -> {annotation}: ...\n"
    for number, (annotation, default) in enumerate(_CASES)
)


@pytest.fixture(scope="module")
def inferred() -> dict[str, dict[str, Any]]:
    """The inferred definitions by function."""
    result = infer(_SOURCE)
    assert () == result.diagnostics
    return {tool.function: json.loads(tool.json) for tool in result.tools}


@pytest.fixture(scope="module")
def module() -> Iterator[ModuleType]:
    """The source, run."""
    with running(_SOURCE) as module:
        yield module


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(f"f{number}", id=f"{annotation}{default}")
        for number, (annotation, default) in enumerate(_CASES)
    ],
)
def test_the_schemas_equal_those_of_pydantic(
    function: str, inferred: dict[str, dict[str, Any]], module: ModuleType
) -> None:
    """They are those of validation for inputs, and of serialization for outputs."""
    want_input, want_output = by_pydantic(module, function)
    definition = inferred[function]

    assert want_input == definition["inputSchema"]
    if _is_informative(want_output):
        assert want_output == definition["outputSchema"]
    else:
        assert "outputSchema" not in definition


def _is_informative(schema: dict[str, Any]) -> bool:
    is_any_list = schema.get("type") == "array" and schema.get("items", True) == {}
    is_any_list = is_any_list or schema.get("maxItems") == 0
    is_specific = schema not in _UNINFORMATIVE and schema.get("format") != "binary"
    return is_specific and not is_any_list
