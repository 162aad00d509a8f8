"""The shared cases of inference: a source, the definitions in it, and what is amiss."""

import json
from typing import Any

import pytest
from inference.routes import in_order
from sidecheck_server.core.digests import digest_of
from support.inferring import infer
from support.shared_material import REPOSITORY

CASES = [
    pytest.param(case, id=case["name"])
    for path in sorted((REPOSITORY / "tests" / "cases" / "infer").glob("*.json"))
    for case in json.loads(path.read_text())["cases"]
]


@pytest.mark.parametrize("case", CASES)
def test_a_case(case: dict[str, Any]) -> None:
    """Member by member, the order of properties included."""
    found = infer(case["source"])

    want = case["want"]
    assert in_order(want["tools"]) == in_order([json.loads(one.json) for one in found.tools])
    assert want["diagnostics"] == [
        [one.code, one.place.line, one.place.column] for one in found.diagnostics
    ]
    assert [digest_of(one) for one in want["tools"]] == [one.digest for one in found.tools]
