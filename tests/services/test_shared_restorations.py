"""The shared cases of restoring: plans that were kept, and the calls that come for them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.tool_error_text import tool_error_text
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.model_calls import CallToRestore, RestoredCall, Restorer
from support.converting import inline, validator_of
from support.shared_conversions import RESTORATIONS, call_of, plan_of, tool_of

LIMITS = Limits()


@pytest.fixture
async def restorer() -> AsyncIterator[Restorer]:
    registry = open_registry(None)
    yield Restorer(validator_of(registry, LIMITS), registry, LIMITS)
    registry.close()


@pytest.mark.parametrize("case", RESTORATIONS)
async def test_a_call_is_restored_as_the_case_wants(
    case: dict[str, Any], restorer: Restorer
) -> None:
    asked = CallToRestore(
        call_of(case), (plan_of(case),), inline(tool_of(case)), EvaluationOptions()
    )
    try:
        got = _told(await restorer.restore(asked))
    except RequestError as refusal:
        got = {"refusal": refusal.reason.value}

    assert case["want"] == {key: value for key, value in got.items() if key in case["want"]}


def _told(restored: RestoredCall) -> dict[str, Any]:
    verdict, part = restored.whole.verdict, restored.whole.part
    return {
        "call_params": json.loads(restored.params) if restored.params else None,
        "call_id": restored.call_id,
        "valid": verdict.valid,
        "violations": [[each.instance_location, each.code] for each in verdict.violations],
        "tool_error_text": tool_error_text(part or verdict, tool=restored.whole.tool),
        "changes": [[each.pointer, each.rule.value] for each in restored.changes],
    }
