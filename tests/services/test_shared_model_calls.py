"""Shared cases of the conversion of models' calls."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.tool_error_text import tool_error_text
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.model_calls import CallConverter, CallToConvert, ConvertedCall
from sidecheck_server.services.validation import ValidationOptions, Validator
from support.checkers import run_in_process
from support.converting import inline, resolver_for
from support.shared_conversions import RESTORATIONS, call_of, mapping_of, tool_of

LIMITS = Limits()


@pytest.fixture
async def converter() -> AsyncIterator[CallConverter]:
    registry = open_registry(None)
    yield CallConverter(resolver_for(registry, LIMITS), Validator(run_in_process), registry, LIMITS)
    registry.close()


@pytest.mark.parametrize("case", RESTORATIONS)
async def test_a_shared_model_call(case: dict[str, Any], converter: CallConverter) -> None:
    """The properties that a case names have the expected values."""
    options = ValidationOptions(EvaluationOptions(), DEFAULT_VERSION)
    request = CallToConvert(call_of(case), (mapping_of(case),), inline(tool_of(case)), options)
    try:
        result = _result(await converter.convert(request))
    except RequestError as error:
        result = {"refusal": error.reason.value}

    assert case["want"] == {key: value for key, value in result.items() if key in case["want"]}


def _result(converted: ConvertedCall) -> dict[str, Any]:
    """Return the result in the form of the shared cases."""
    verdict, part = converted.verdict.verdict, converted.verdict.part
    return {
        "call_params": json.loads(converted.params) if converted.params else None,
        "call_id": converted.call_id,
        "valid": verdict.valid,
        "violations": [
            [violation.instance_location, violation.code] for violation in verdict.violations
        ],
        "tool_error_text": tool_error_text(part or verdict, tool=converted.verdict.tool),
        "changes": [[change.pointer, change.rule.value] for change in converted.changes],
    }
