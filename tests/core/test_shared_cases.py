"""The shared cases, through the core."""

from dataclasses import asdict
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, SchemaSource
from sidecheck_server.core.types import Document
from support.shared_cases import VALIDATE, matches

LIMITS = Limits()


@pytest.mark.parametrize("case", VALIDATE)
def test_outcome_of_a_shared_case(case: dict[str, Any]) -> None:
    """The whole verdict or error is compared."""
    assert case["want"] == matches(case["want"], _answer(case))


def _answer(case: dict[str, Any]) -> dict[str, Any]:
    options = case.get("options", {})
    source = SchemaSource(
        case["schema"].encode(),
        tuple(
            Document(document["uri"], document["json"].encode())
            for document in case.get("documents", ())
        ),
        case.get("default_dialect", DEFAULT_DIALECT.uri),
        assert_formats=options.get("assert_formats", False),
    )
    evaluation_options = EvaluationOptions(
        max_violations=options.get("max_violations", 20),
        hide_values=options.get("hide_values", False),
    )
    try:
        compiled = CompiledSchema(source, compile_schema(source, LIMITS), LIMITS)
        verdict = evaluate(compiled, case["payload"].encode(), evaluation_options)
    except RequestError as error:
        return {
            "refusal": error.reason.value,
            "violations": [asdict(violation) for violation in error.violations],
        }
    return {
        "valid": verdict.valid,
        "truncated": verdict.truncated,
        "violations": [asdict(violation) for violation in verdict.violations],
    }
