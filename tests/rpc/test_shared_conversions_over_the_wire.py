"""Shared cases of converting tools and calls, with a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import conversion_service_pb2 as v1
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from support.conversion_requests import target
from support.running import RunningServer
from support.shared_conversions import (
    CONVERSIONS,
    RESTORATIONS,
    call_of,
    mapping_of,
    schema_in,
    tool_of,
)
from support.wire import error_info_of, info_of


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ConversionServiceStub(channel)


@pytest.mark.parametrize("case", CONVERSIONS)
def test_a_shared_conversion(case: dict[str, Any], stub: Any) -> None:
    """The properties that a case names have the expected values."""
    request = v1.ConvertToolsRequest(
        api=f"MODEL_API_{_constant(case['api'])}",
        options=v1.ConversionOptions(
            mode=f"CONVERSION_MODE_{_constant(case['mode'])}",
            **case.get("options", {}),
        ),
        tools=[v1.ToolToConvert(tool=target(tool_of(case)))],
    )
    [conversion] = stub.ConvertTools(request, timeout=120).conversions
    if conversion.HasField("error"):
        actual: dict[str, Any] = {"refusal": info_of(conversion.error).reason}
    else:
        actual = _converted(conversion.converted)

    assert case["want"] == {key: value for key, value in actual.items() if key in case["want"]}


@pytest.mark.parametrize("case", RESTORATIONS)
def test_a_shared_model_call(case: dict[str, Any], stub: Any) -> None:
    """The properties that a case names have the expected values."""
    request = v1.ConvertToolCallRequest(
        call=call_of(case), mappings=[mapping_of(case)], tool=target(tool_of(case))
    )
    try:
        actual = _converted_call(stub.ConvertToolCall(request, timeout=120))
    except grpc.RpcError as error:
        actual = {"refusal": error_info_of(error).reason}

    assert case["want"] == {key: value for key, value in actual.items() if key in case["want"]}


def _constant(name: str) -> str:
    return name.replace("-", "_").upper()


def _converted(result: v1.ConvertedTool) -> dict[str, Any]:
    tool = json.loads(result.json)
    action, effect = v1.Loss.Action.Name, v1.Loss.Effect.Name
    return {
        "tool": tool,
        "parameters": schema_in(tool),
        "losses": [
            [
                loss.pointer,
                loss.keyword,
                action(loss.action).removeprefix("ACTION_").lower(),
                effect(loss.effect).removeprefix("EFFECT_").lower(),
            ]
            for loss in result.losses
        ],
        "strict": result.strict,
        "name": result.name,
    }


def _converted_call(response: v1.ConvertToolCallResponse) -> dict[str, Any]:
    verdict = response.verdict
    return {
        "call_params": json.loads(response.call_params) if response.call_params else None,
        "call_id": response.call_id,
        "valid": verdict.valid,
        "violations": [
            [violation.instance_location, violation.code] for violation in verdict.violations
        ],
        "tool_error_text": verdict.tool_error_text,
        "changes": [[change.instance_location, change.code] for change in response.changes],
    }
