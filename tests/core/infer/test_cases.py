"""The shared cases of inference: a source, its definitions and its diagnostics."""

import json
from typing import Any

import pytest
from inference.routes import in_order
from sidecheck_server.core.json_values import digest_of
from support.inference import infer
from support.shared_material import REPOSITORY

CASES = [
    pytest.param(case, id=case["name"])
    for path in sorted((REPOSITORY / "tests" / "cases" / "infer").glob("*.json"))
    for case in json.loads(path.read_text())["cases"]
]


@pytest.mark.parametrize("case", CASES)
def test_a_case(case: dict[str, Any]) -> None:
    """The order of properties counts."""
    result = infer(case["source"])

    expected = case["want"]
    assert in_order(expected["tools"]) == in_order([json.loads(tool.json) for tool in result.tools])
    assert expected["diagnostics"] == [
        [diagnostic.code, diagnostic.location.line, diagnostic.location.column]
        for diagnostic in result.diagnostics
    ]
    assert [digest_of(definition) for definition in expected["tools"]] == [
        tool.digest for tool in result.tools
    ]
