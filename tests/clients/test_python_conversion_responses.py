"""The Python client translates the answers to conversions into values."""

from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck import (
    Change,
    Converted,
    ConvertedResult,
    ConvertedTools,
    Direction,
    JsonText,
    Loss,
    LossAction,
    ModelApi,
    RestoredCall,
    SidecheckError,
    ToolConversion,
    Verdict,
    Violation,
)
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import conversion_responses as responses

FOUND = verdict_pb.Verdict(
    violations=[verdict_pb.Violation(code="C", severity="SEVERITY_ERROR")], enforced=True
)
VERDICT = Verdict(valid=False, violations=(Violation(code="C"),))
LOSS = conversion_pb.Loss(
    pointer="/inputSchema/properties/a",
    keyword="minLength",
    action="ACTION_DESCRIBED",
    effect="EFFECT_WIDENED",
    message="m",
)
EXPECTED_LOSS = Loss(
    pointer="/inputSchema/properties/a",
    keyword="minLength",
    action=LossAction.DESCRIBED,
    direction=Direction.WIDER,
    message="m",
)
REFUSAL = Status(code=grpc.StatusCode.FAILED_PRECONDITION.value[0], message="too large")
REFUSED = SidecheckError(
    "FAILED_PRECONDITION", "too large", {}, grpc.StatusCode.FAILED_PRECONDITION
)


def converted(name: str) -> conversion_pb.ConvertedTool:
    """Return a converted tool of that name."""
    return conversion_pb.ConvertedTool(
        json=f'{{"name": "{name}"}}'.encode(),
        name=name,
        strict=True,
        mapping=f'{{"sidecheck_plan": 1, "name": "{name}"}}'.encode(),
        losses=[LOSS],
        not_strict_reason="w",
    )


RESPONSE = conversion_pb.ConvertToolsResponse(
    conversions=[
        conversion_pb.ToolConversion(server="s", name="a", converted=converted("s__a")),
        conversion_pb.ToolConversion(name="b", error=REFUSAL),
        conversion_pb.ToolConversion(name="c", converted=converted("c")),
    ],
    request=FOUND,
)


def test_tools_are_translated_whole() -> None:
    """Each is converted, with its losses and its plan, or refused by itself."""
    answer = responses.tools(ModelApi.ANTHROPIC, RESPONSE)
    first = Converted(
        text=JsonText(b'{"name": "s__a"}'),
        name="s__a",
        strict=True,
        plan=JsonText(b'{"sidecheck_plan": 1, "name": "s__a"}'),
        losses=(EXPECTED_LOSS,),
        not_strict_reason="w",
    )
    third = responses.converted(converted("c"))

    assert (
        ConvertedTools(
            api=ModelApi.ANTHROPIC,
            conversions=(
                ToolConversion(server="s", name="a", outcome=first),
                ToolConversion(server="", name="b", outcome=REFUSED),
                ToolConversion(server="", name="c", outcome=third),
            ),
            request=VERDICT,
        )
        == answer
    )
    assert {"name": "s__a"} == first.json
    assert (first, third) == answer.converted
    assert [b'{"sidecheck_plan": 1, "name": "s__a"}', third.plan] == answer.plans


LIST = [{"name": "s__a"}, {"name": "c"}]
NESTED = {
    ModelApi.GEMINI: [{"functionDeclarations": LIST}],
    ModelApi.GEMINI_JSON: [{"functionDeclarations": LIST}],
    ModelApi.BEDROCK: {"tools": LIST},
}


@pytest.mark.parametrize("api", list(ModelApi))
def test_tools_have_the_form_of_a_request(api: ModelApi) -> None:
    """A list of those that were converted, inside of what the API wants around it."""
    assert NESTED.get(api, LIST) == responses.tools(api, RESPONSE).tools


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ({"a": [1]}, b'{"name": "n", "arguments": {"a": [1]}}'),
        ({}, b'{"name": "n", "arguments": {}}'),
        (None, b""),
    ],
)
def test_calls_are_translated_whole(expected: Any, text: bytes) -> None:
    """Where there are no arguments there are none, rather than empty ones."""
    answer = responses.call(
        conversion_pb.ConvertToolCallResponse(
            server="s",
            tool="n",
            call_id="c",
            name="m",
            call_params=text,
            verdict=FOUND,
            changes=[
                verdict_pb.Change(
                    instance_location="/a", code="NULL_REMOVED", keyword_location="/s", message="m"
                )
            ],
        )
    )

    assert (
        RestoredCall(
            server="s",
            tool="n",
            call_id="c",
            name="m",
            call_params=JsonText(text),
            verdict=VERDICT,
            changes=(
                Change(pointer="/a", code="NULL_REMOVED", keyword_location="/s", message="m"),
            ),
        )
        == answer
    )
    assert expected == answer.arguments


def test_results_are_translated_whole() -> None:
    """The message, what it cannot say, and the verdict."""
    assert ConvertedResult(
        message=JsonText(b'{"role": "tool"}'), verdict=VERDICT, losses=(EXPECTED_LOSS,)
    ) == responses.result(
        conversion_pb.ConvertToolResultResponse(
            message=b'{"role": "tool"}', verdict=FOUND, losses=[LOSS]
        )
    )


@pytest.mark.parametrize(
    ("labels", "words", "prefix"),
    [
        pytest.param(conversion_pb.Loss.Action.keys(), LossAction, "ACTION", id="actions"),
        pytest.param(conversion_pb.Loss.Effect.keys(), Direction, "DIRECTION", id="directions"),
    ],
)
def test_words_are_those_of_the_api(labels: list[str], words: Any, prefix: str) -> None:
    """A label added to the API without a word here fails."""
    assert set(labels) == {f"{prefix}_{word.upper()}" for word in words}


@pytest.mark.parametrize("number", range(6))
def test_every_action_has_its_word(number: Any) -> None:
    """Label by label."""
    (loss,) = responses.losses([conversion_pb.Loss(action=number)])
    assert conversion_pb.Loss.Action.Name(number) == f"ACTION_{loss.action.upper()}"


@pytest.mark.parametrize("number", range(4))
def test_every_direction_has_its_word(number: Any) -> None:
    """Label by label."""
    (loss,) = responses.losses([conversion_pb.Loss(effect=number)])
    assert conversion_pb.Loss.Effect.Name(number) == f"DIRECTION_{loss.direction.upper()}"


def test_a_later_server_may_say_more() -> None:
    """What it says has no word here yet."""
    later: Any = 99
    (loss,) = responses.losses([conversion_pb.Loss(action=later, effect=later)])
    assert (LossAction.UNSPECIFIED, Direction.UNSPECIFIED) == (loss.action, loss.direction)
