"""Decoding of conversion responses by the Python client."""

from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck import (
    Change,
    ConvertedCall,
    ConvertedResult,
    ConvertedTool,
    ConvertedTools,
    Effect,
    JsonText,
    Loss,
    LossAction,
    ModelApi,
    SidecheckError,
    ToolConversion,
    Verdict,
    Violation,
)
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import conversion
from sidecheck.wire.decoders.losses import decode_loss

VERDICT_MESSAGE = verdict_pb.Verdict(
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
    effect=Effect.WIDENED,
    message="m",
)
STATUS = Status(code=grpc.StatusCode.FAILED_PRECONDITION.value[0], message="too large")
ERROR = SidecheckError("FAILED_PRECONDITION", "too large", {}, grpc.StatusCode.FAILED_PRECONDITION)


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
        conversion_pb.ToolConversion(name="b", error=STATUS),
        conversion_pb.ToolConversion(name="c", converted=converted("c")),
    ],
    request=VERDICT_MESSAGE,
)


def test_tools_are_decoded_completely() -> None:
    """Every conversion is a tool with losses and mapping, or an error."""
    decoded = conversion.decode_tools(ModelApi.ANTHROPIC, 3, RESPONSE)
    first = ConvertedTool(
        text=JsonText(b'{"name": "s__a"}'),
        name="s__a",
        strict=True,
        mapping=JsonText(b'{"sidecheck_plan": 1, "name": "s__a"}'),
        losses=(EXPECTED_LOSS,),
        not_strict_reason="w",
    )
    third = conversion.decode_tool(converted("c"))

    assert (
        ConvertedTools(
            api=ModelApi.ANTHROPIC,
            conversions=(
                ToolConversion(server="s", name="a", outcome=first),
                ToolConversion(server="", name="b", outcome=ERROR),
                ToolConversion(server="", name="c", outcome=third),
            ),
            request=VERDICT,
        )
        == decoded
    )
    assert {"name": "s__a"} == first.json
    assert (first, third) == decoded.converted
    assert [b'{"sidecheck_plan": 1, "name": "s__a"}', third.mapping] == decoded.mappings


LIST = [{"name": "s__a"}, {"name": "c"}]
NESTED = {
    ModelApi.GEMINI: [{"functionDeclarations": LIST}],
    ModelApi.GEMINI_JSON: [{"functionDeclarations": LIST}],
    ModelApi.BEDROCK: {"tools": LIST},
}


@pytest.mark.parametrize("api", list(ModelApi))
def test_tools_have_the_form_of_a_request(api: ModelApi) -> None:
    """The converted tools are wrapped as the API requires."""
    assert NESTED.get(api, LIST) == conversion.decode_tools(api, None, RESPONSE).tools


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ({"a": [1]}, b'{"name": "n", "arguments": {"a": [1]}}'),
        ({}, b'{"name": "n", "arguments": {}}'),
        (None, b""),
    ],
)
def test_calls_are_decoded_completely(expected: Any, text: bytes) -> None:
    """Missing arguments are None, and empty arguments an empty object."""
    decoded = conversion.decode_call(
        conversion_pb.ConvertToolCallResponse(
            server="s",
            tool="n",
            call_id="c",
            name="m",
            call_params=text,
            verdict=VERDICT_MESSAGE,
            changes=[
                verdict_pb.Change(
                    instance_location="/a", code="NULL_REMOVED", keyword_location="/s", message="m"
                )
            ],
        )
    )

    assert (
        ConvertedCall(
            server="s",
            tool="n",
            call_id="c",
            name="m",
            call_params=JsonText(text),
            verdict=VERDICT,
            changes=(
                Change(
                    instance_location="/a", code="NULL_REMOVED", keyword_location="/s", message="m"
                ),
            ),
        )
        == decoded
    )
    assert expected == decoded.arguments


def test_results_are_decoded_completely() -> None:
    """A result has a message, losses and a verdict."""
    assert ConvertedResult(
        message=JsonText(b'{"role": "tool"}'), verdict=VERDICT, losses=(EXPECTED_LOSS,)
    ) == conversion.decode_result(
        conversion_pb.ConvertToolResultResponse(
            message=b'{"role": "tool"}', verdict=VERDICT_MESSAGE, losses=[LOSS]
        )
    )


@pytest.mark.parametrize(
    ("labels", "enum", "prefix"),
    [
        pytest.param(conversion_pb.Loss.Action.keys(), LossAction, "ACTION", id="actions"),
        pytest.param(conversion_pb.Loss.Effect.keys(), Effect, "EFFECT", id="effects"),
    ],
)
def test_enum_values_match_the_api(labels: list[str], enum: Any, prefix: str) -> None:
    """The test fails if the API has a label without a value here."""
    assert set(labels) == {f"{prefix}_{value.upper()}" for value in enum}


@pytest.mark.parametrize("number", range(6))
def test_each_action_has_a_value(number: Any) -> None:
    """Every label of the API is decoded to the value of its name."""
    loss = decode_loss(conversion_pb.Loss(action=number))
    assert conversion_pb.Loss.Action.Name(number) == f"ACTION_{loss.action.upper()}"


@pytest.mark.parametrize("number", range(4))
def test_each_effect_has_a_value(number: Any) -> None:
    """Every label of the API is decoded to the value of its name."""
    loss = decode_loss(conversion_pb.Loss(effect=number))
    assert conversion_pb.Loss.Effect.Name(number) == f"EFFECT_{loss.effect.upper()}"


def test_unknown_values_of_a_newer_server_are_unspecified() -> None:
    """Unknown numbers are decoded to UNSPECIFIED."""
    later: Any = 99
    loss = decode_loss(conversion_pb.Loss(action=later, effect=later))
    assert (LossAction.UNSPECIFIED, Effect.UNSPECIFIED) == (loss.action, loss.effect)
