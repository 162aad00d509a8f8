"""Calls are put to the plan that is meant, and plans to the definition that is theirs."""

import pytest
from sidecheck_server.core.convert.calls import (
    chosen_plan,
    common_api,
    refuse_mismatch,
)
from sidecheck_server.core.convert.calls.reading import ModelCall
from sidecheck_server.core.convert.plan import Plan
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.types import Verdict
from support.model_calls import ANTHROPIC, CHAT


def plan(name: str = "t", api: ModelApi = CHAT) -> Plan:
    return Plan(api, name, "s", "tool", "sha256:" + "0" * 64, strict=False, guide=None)


def call_of(name: str) -> ModelCall:
    return ModelCall(name, "", {}, Verdict(), "")


def test_the_plan_is_the_one_of_the_tool_that_is_called() -> None:
    plans = [plan("a"), plan("b")]

    assert plans[1] is chosen_plan(plans, call_of("b"))
    assert CHAT is common_api(plans)


def test_a_call_without_a_name_belongs_to_the_only_plan() -> None:
    """Of several it is not known which."""
    only = plan("a")

    assert only is chosen_plan([only], call_of(""))
    assert None is chosen_plan([only, plan("b")], call_of(""))


@pytest.mark.parametrize(
    ("plans", "reason", "metadata", "said"),
    [
        pytest.param(
            [], ErrorReason.INVALID_REQUEST, {"field": "plans"}, "there is no plan", id="no plans"
        ),
        pytest.param(
            [plan(), plan("u", ANTHROPIC)],
            ErrorReason.INVALID_REQUEST,
            {"field": "plans"},
            "openai-chat and anthropic",
            id="plans of several APIs",
        ),
        pytest.param(
            [plan("x"), plan("x")],
            ErrorReason.INVALID_MAPPING,
            {"name": "x"},
            '"x"',
            id="two of one name",
        ),
        pytest.param(
            [plan("get_files"), plan("x")],
            ErrorReason.MAPPING_MISMATCH,
            {"name": "get_file"},
            '"get_file"; is it "get_files"?',
            id="none of that name",
        ),
    ],
)
def test_plans_that_do_not_fit_are_refused(
    plans: list[Plan], reason: ErrorReason, metadata: dict[str, str], said: str
) -> None:
    with pytest.raises(RequestError) as refused:
        chosen_plan(plans, call_of("get_file"))

    assert (reason, metadata) == (refused.value.reason, refused.value.metadata)
    assert said in refused.value.message


def test_a_plan_of_another_definition_is_refused() -> None:
    """The tool has changed since it was converted."""
    made = plan()
    refuse_mismatch(made, made.definition_digest)

    with pytest.raises(RequestError) as refused:
        refuse_mismatch(made, "sha256:" + "1" * 64)
    assert ErrorReason.MAPPING_MISMATCH is refused.value.reason
    assert {"planned": made.definition_digest, "found": "sha256:" + "1" * 64} == (
        refused.value.metadata
    )
