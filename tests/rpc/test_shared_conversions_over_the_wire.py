"""The shared cases of conversion and of restoring, through a real server."""

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
    plan_of,
    schema_in,
    tool_of,
)
from support.wire import info_of, refusal_of


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ConversionServiceStub(channel)


@pytest.mark.parametrize("case", CONVERSIONS)
def test_a_server_converts_as_the_case_wants(case: dict[str, Any], stub: Any) -> None:
    request = v1.ConvertToolsRequest(
        api=f"MODEL_API_{_constant(case['api'])}",
        options=v1.ConversionOptions(
            mode=f"CONVERSION_MODE_{_constant(case['mode'])}",
            **case.get("options", {}),
        ),
        tools=[v1.ToolToConvert(tool=target(tool_of(case)))],
    )
    [one] = stub.ConvertTools(request, timeout=120).conversions
    if one.HasField("refused"):
        got: dict[str, Any] = {"refusal": info_of(one.refused).reason}
    else:
        got = _told(one.converted)

    assert case["want"] == {key: value for key, value in got.items() if key in case["want"]}


@pytest.mark.parametrize("case", RESTORATIONS)
def test_a_server_restores_as_the_case_wants(case: dict[str, Any], stub: Any) -> None:
    request = v1.ConvertToolCallRequest(
        call=call_of(case), mappings=[plan_of(case)], tool=target(tool_of(case))
    )
    try:
        got = _restored(stub.ConvertToolCall(request, timeout=120))
    except grpc.RpcError as error:
        got = {"refusal": refusal_of(error).reason}

    assert case["want"] == {key: value for key, value in got.items() if key in case["want"]}


def _constant(name: str) -> str:
    return name.replace("-", "_").upper()


def _told(result: v1.ConvertedTool) -> dict[str, Any]:
    tool = json.loads(result.json)
    action, direction = v1.Loss.Action.Name, v1.Loss.Effect.Name
    return {
        "tool": tool,
        "parameters": schema_in(tool),
        "losses": [
            [
                each.pointer,
                each.keyword,
                action(each.action).removeprefix("ACTION_").lower(),
                direction(each.effect).removeprefix("DIRECTION_").lower(),
            ]
            for each in result.losses
        ],
        "strict": result.strict,
        "name": result.name,
    }


def _restored(response: v1.ConvertToolCallResponse) -> dict[str, Any]:
    verdict = response.verdict
    return {
        "call_params": json.loads(response.call_params) if response.call_params else None,
        "call_id": response.call_id,
        "valid": verdict.valid,
        "violations": [[each.instance_location, each.code] for each in verdict.violations],
        "tool_error_text": verdict.tool_error_text,
        "changes": [[each.instance_location, each.code] for each in response.changes],
    }
