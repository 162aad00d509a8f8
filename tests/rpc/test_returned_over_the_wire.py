"""Adaptation and normalization with a real server: shared cases and errors."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2, verdict_pb2
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceStub
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from support.result_cases import ADAPTATIONS, RESULTS, text_of
from support.running import RunningServer
from support.wire import error_info_of

PROFILES = {
    "specification": protocol_pb.RESULT_PROFILE_SPECIFICATION,
    "text": protocol_pb.RESULT_PROFILE_TEXT,
}
LIST = {
    "name": "list",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "array", "items": {"type": "integer"}},
}


@pytest.fixture(scope="module")
def channel(shared_server: RunningServer) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(shared_server.address) as connected:
        yield connected


def inline(tool: Any) -> target_pb2.Target:
    return target_pb2.Target(inline_tool=target_pb2.InlineTool(json=text_of(tool)))


def to_normalize(case: dict[str, Any]) -> protocol_pb.NormalizeToolResultRequest:
    [(kind, value)] = case["returned"].items()
    returned: dict[str, Any] = {kind: value if kind == "error" else text_of(value)}
    return protocol_pb.NormalizeToolResultRequest(
        context=protocol_pb.ProtocolContext(protocol_version=case["version"]),
        tool=inline(case["tool"]) if "tool" in case else None,
        profile=PROFILES[case.get("profile", "specification")],
        **returned,
    )


@pytest.mark.parametrize("case", ADAPTATIONS)
def test_definitions_are_adapted_as_in_the_core(
    case: dict[str, Any], channel: grpc.Channel
) -> None:
    """The shared cases."""
    actual = InferenceServiceStub(channel).AdaptTool(
        inference_pb.AdaptToolRequest(tool=inline(case["tool"]), protocol_version=case["version"])
    )

    expected = case["want"]
    assert expected == {
        "tool": json.loads(actual.json),
        "wrapped_property": actual.wrapped_property,
        "dropped_properties": list(actual.dropped_properties),
    }


@pytest.mark.parametrize("case", RESULTS)
def test_results_are_normalized_as_in_the_core(case: dict[str, Any], channel: grpc.Channel) -> None:
    """The shared cases; a value that is invalid against its schema becomes an error."""
    actual = ProtocolServiceStub(channel).NormalizeToolResult(to_normalize(case))
    expected, result = case["want"], json.loads(actual.result)
    errors = [
        violation.code
        for violation in actual.verdict.violations
        if violation.severity == verdict_pb2.SEVERITY_ERROR
    ]

    assert (expected["valid"], expected.get("codes", [])) == (actual.verdict.valid, errors)
    assert expected["result"] in (result, None)
    assert expected["valid"] or result["isError"] is True


def test_a_registered_tool_is_resolved_by_name_and_digest(channel: grpc.Channel) -> None:
    """Adaptation and normalization resolve both targets."""
    registry: Any = RegistryServiceStub(channel)
    response = registry.RegisterTools(
        registry_pb.RegisterToolsRequest(
            server="wrapped",
            tools=[target_pb2.InlineTool(json=text_of(LIST))],
            protocol_version="2025-11-25",
        )
    )
    digest = response.outcomes[0].definition_digest
    targets = [
        target_pb2.Target(registered_tool=target_pb2.RegisteredTool(server="wrapped", name="list")),
        target_pb2.Target(definition_digest=digest),
    ]
    try:
        wrapped = [
            InferenceServiceStub(channel)
            .AdaptTool(inference_pb.AdaptToolRequest(tool=target))
            .wrapped_property
            for target in targets
        ]
        results = [
            json.loads(
                ProtocolServiceStub(channel)
                .NormalizeToolResult(
                    protocol_pb.NormalizeToolResultRequest(tool=target, value=b"[1]")
                )
                .result
            )
            for target in targets
        ]
    finally:
        registry.DeleteTools(registry_pb.DeleteToolsRequest(server="wrapped", names=["list"]))

    assert ["result"] * 2 == wrapped
    assert [{"result": [1]}] * 2 == [result["structuredContent"] for result in results]


def test_a_wrapped_schema_refers_to_documents(channel: grpc.Channel) -> None:
    """References resolve from within the wrapping schema."""
    tool = {**LIST, "outputSchema": {"type": "array", "items": {"$ref": "https://example.com/n"}}}
    target = inline(tool)
    target.inline_tool.documents.add(uri="https://example.com/n", json=b'{"type": "integer"}')
    stub: Any = ProtocolServiceStub(channel)
    valid = [
        stub.NormalizeToolResult(
            protocol_pb.NormalizeToolResultRequest(tool=target, value=value)
        ).verdict.valid
        for value in (b"[1]", b'["1"]')
    ]

    assert [True, False] == valid


def test_a_value_that_is_not_json_becomes_an_error_result(channel: grpc.Channel) -> None:
    """Both profiles have a verdict."""
    stub: Any = ProtocolServiceStub(channel)
    responses = [
        stub.NormalizeToolResult(
            protocol_pb.NormalizeToolResultRequest(value=b"[NaN]", profile=profile)
        )
        for profile in PROFILES.values()
    ]

    assert [["PAYLOAD_NOT_JSON"]] * 2 == [
        [violation.code for violation in response.verdict.violations] for response in responses
    ]
    assert [True] * 2 == [json.loads(response.result)["isError"] for response in responses]


SCHEMA = target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=b"{}"))


@pytest.mark.parametrize(
    ("reason", "request_"),
    [
        ("INVALID_REQUEST", inference_pb.AdaptToolRequest()),
        ("INVALID_REQUEST", inference_pb.AdaptToolRequest(tool=target_pb2.Target())),
        ("INVALID_REQUEST", inference_pb.AdaptToolRequest(tool=SCHEMA)),
        ("INVALID_TOOL", inference_pb.AdaptToolRequest(tool=inline([]))),
        (
            "UNKNOWN_TOOL",
            inference_pb.AdaptToolRequest(
                tool=target_pb2.Target(
                    registered_tool=target_pb2.RegisteredTool(server="x", name="y")
                )
            ),
        ),
        (
            "UNKNOWN_PROTOCOL_VERSION",
            inference_pb.AdaptToolRequest(tool=inline(LIST), protocol_version="1999-01-01"),
        ),
        ("INVALID_REQUEST", protocol_pb.NormalizeToolResultRequest()),
        ("INVALID_REQUEST", protocol_pb.NormalizeToolResultRequest(value=b"1", tool=SCHEMA)),
        ("INVALID_REQUEST", protocol_pb.NormalizeToolResultRequest(value=b"1", profile=9)),  # type: ignore[arg-type]
        (
            "UNKNOWN_PROTOCOL_VERSION",
            protocol_pb.NormalizeToolResultRequest(
                value=b"1", context=protocol_pb.ProtocolContext(protocol_version="x")
            ),
        ),
        ("LIMIT_EXCEEDED", protocol_pb.NormalizeToolResultRequest(value=b"[" * 1000 + b"]" * 1000)),
        ("LIMIT_EXCEEDED", protocol_pb.NormalizeToolResultRequest(value=b" " * (1 << 20) + b"1")),
    ],
)
def test_an_invalid_request_is_rejected(reason: str, request_: Any, channel: grpc.Channel) -> None:
    """The error has the reason."""
    call: Any = (
        InferenceServiceStub(channel).AdaptTool
        if isinstance(request_, inference_pb.AdaptToolRequest)
        else ProtocolServiceStub(channel).NormalizeToolResult
    )
    with pytest.raises(grpc.RpcError) as raised:
        call(request_)

    assert reason == error_info_of(raised.value).reason
