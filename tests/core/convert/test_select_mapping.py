"""Calls are put to the plan that is meant, and plans to the definition that is theirs."""

import pytest
from model_calls import ANTHROPIC, CHAT
from sidecheck_server.core.convert.call_resolution import (
    check_definition,
    common_api,
    select_mapping,
)
from sidecheck_server.core.convert.mapping import ToolMapping
from sidecheck_server.core.convert.model_call import ModelCall
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.words import Verdict


def plan(name: str = "t", api: ModelApi = CHAT) -> ToolMapping:
    return ToolMapping(api, name, "s", "tool", "sha256:" + "0" * 64, strict=False, decoder=None)


def call_of(name: str) -> ModelCall:
    return ModelCall(name, "", {}, Verdict(), "")


def test_the_plan_is_the_one_of_the_tool_that_is_called() -> None:
    plans = [plan("a"), plan("b")]

    assert plans[1] is select_mapping(plans, call_of("b"))
    assert CHAT is common_api(plans)


def test_a_call_without_a_name_belongs_to_the_only_plan() -> None:
    """Of several it is not known which."""
    only = plan("a")

    assert only is select_mapping([only], call_of(""))
    assert None is select_mapping([only, plan("b")], call_of(""))


@pytest.mark.parametrize(
    ("plans", "reason", "metadata", "said"),
    [
        pytest.param(
            [], Reason.INVALID_REQUEST, {"field": "plans"}, "there is no plan", id="no plans"
        ),
        pytest.param(
            [plan(), plan("u", ANTHROPIC)],
            Reason.INVALID_REQUEST,
            {"field": "plans"},
            "openai-chat and anthropic",
            id="plans of several APIs",
        ),
        pytest.param(
            [plan("x"), plan("x")],
            Reason.INVALID_MAPPING,
            {"name": "x"},
            '"x"',
            id="two of one name",
        ),
        pytest.param(
            [plan("get_files"), plan("x")],
            Reason.MAPPING_MISMATCH,
            {"name": "get_file"},
            '"get_file"; is it "get_files"?',
            id="none of that name",
        ),
    ],
)
def test_plans_that_do_not_fit_are_refused(
    plans: list[ToolMapping], reason: Reason, metadata: dict[str, str], said: str
) -> None:
    with pytest.raises(Refusal) as refused:
        select_mapping(plans, call_of("get_file"))

    assert (reason, metadata) == (refused.value.reason, refused.value.metadata)
    assert said in refused.value.message


def test_a_plan_of_another_definition_is_refused() -> None:
    """The tool has changed since it was converted."""
    made = plan()
    check_definition(made, made.definition_digest)

    with pytest.raises(Refusal) as refused:
        check_definition(made, "sha256:" + "1" * 64)
    assert Reason.MAPPING_MISMATCH is refused.value.reason
    assert {"planned": made.definition_digest, "found": "sha256:" + "1" * 64} == (
        refused.value.metadata
    )
