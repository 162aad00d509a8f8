"""Errors of ConversionService: invalid requests, calls and mappings."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import conversion_service_pb2 as v1
from sidecheck.v1 import options_pb2, protocol_service_pb2
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from support.conversion_requests import (
    RESULT,
    TOOL,
    call_request,
    converted,
    rejection_of,
    target,
    tool_use,
    tools_request,
)
from support.running import RunningServer
from support.wire import info_of


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ConversionServiceStub(channel)


@pytest.mark.parametrize(
    ("call", "bound"),
    [(b'{"input":' * 5_000, "payload_depth"), (tool_use("x" * (1 << 20)), "payload_bytes")],
    ids=["deep", "large"],
)
def test_a_call_beyond_the_limits_of_payloads_is_rejected(stub: Any, call: Any, bound: str) -> None:
    """The limits of payloads apply to calls."""
    request = call_request(call, converted(stub).mapping)

    assert ("LIMIT_EXCEEDED", bound) == rejection_of(stub.ConvertToolCall, request)


def with_api(**more: Any) -> Any:
    return v1.ConvertToolsRequest(**{"api": v1.MODEL_API_ANTHROPIC, **more})


CONVERT: Any = [
    pytest.param(v1.ConvertToolsRequest(), ("INVALID_REQUEST", "api"), id="unset API"),
    pytest.param(with_api(api=99), ("INVALID_REQUEST", "api"), id="an unknown API"),
    pytest.param(
        with_api(options=v1.ConversionOptions(mode=9)),  # type: ignore[arg-type]
        ("INVALID_REQUEST", "mode"),
        id="an unknown mode",
    ),
    pytest.param(
        with_api(options=v1.ConversionOptions(server_prefix=9)),  # type: ignore[arg-type]
        ("INVALID_REQUEST", "server_prefix"),
        id="an unknown prefix",
    ),
    pytest.param(with_api(servers=["?"]), ("INVALID_REQUEST", "servers"), id="an unknown server"),
    pytest.param(
        with_api(tools=[v1.ToolToConvert()] * 10_001),
        ("LIMIT_EXCEEDED", "batch_items"),
        id="10,001 tools",
    ),
    pytest.param(
        with_api(servers=["?"] * 10_001), ("LIMIT_EXCEEDED", "batch_items"), id="10,001 servers"
    ),
]


@pytest.mark.parametrize(("request_", "expected"), CONVERT)
def test_invalid_conversion_requests_are_rejected(
    stub: Any, request_: Any, expected: tuple[str, str]
) -> None:
    """The error names the invalid field."""
    assert expected == rejection_of(stub.ConvertTools, request_)


def test_ten_thousand_tools_are_converted(stub: Any) -> None:
    """The maximum number of tools gets distinct names."""
    tools = [{"name": f"t.{count % 9_999}", "inputSchema": {}} for count in range(10_000)]
    response = stub.ConvertTools(tools_request(*tools))
    names = {entry.converted.name for entry in response.conversions}

    assert ("INVALID_REQUEST", "tools") == (
        (info := info_of(response.conversions[0].error)).reason,
        info.metadata["field"],
    )
    assert (10_000, 10_000) == (len(response.conversions), len(names))


LARGE = b'{"sidecheck_mapping": 1, "more": "' + b"x" * (300 << 10) + b'"}'
DEEP = b'{"sidecheck_mapping": 1, "decoder": ' + b'{"items":' * 5_000


@pytest.mark.parametrize(
    ("mappings", "expected"),
    [
        ([], "INVALID_REQUEST"),
        ([b""], "INVALID_MAPPING"),
        ([b"[]"], "INVALID_MAPPING"),
        ([DEEP], "LIMIT_EXCEEDED"),
        ([LARGE], "LIMIT_EXCEEDED"),
        ([b"{}"] * 10_001, "LIMIT_EXCEEDED"),
    ],
    ids=["none", "empty", "a list", "deep", "300 KiB", "10,001"],
)
def test_invalid_mappings_are_rejected(stub: Any, mappings: list[bytes], expected: str) -> None:
    """Mappings are untrusted input."""
    assert expected == rejection_of(stub.ConvertToolCall, call_request(tool_use(), *mappings))[0]


def test_a_mapping_of_another_tool_is_rejected(stub: Any) -> None:
    """The mapping must match the call and the definition."""
    mapping = converted(stub).mapping
    other_target = target({**TOOL, "title": "?"})

    assert (
        "MAPPING_MISMATCH"
        == rejection_of(stub.ConvertToolCall, call_request(tool_use("x"), mapping))[0]
    )
    assert (
        "MAPPING_MISMATCH"
        == rejection_of(stub.ConvertToolCall, call_request(tool_use(), mapping, tool=other_target))[
            0
        ]
    )


def test_invalid_validation_options_are_rejected(stub: Any) -> None:
    """Validation options are checked as in ValidationService."""
    options = options_pb2.ValidationOptions(coercion=9)  # type: ignore[arg-type]
    request = call_request(tool_use(), converted(stub).mapping, options=options)

    assert ("INVALID_REQUEST", "coercion") == rejection_of(stub.ConvertToolCall, request)


RESULTS: Any = [
    ({"api": 0}, ("INVALID_REQUEST", "api")),
    ({"result": None}, ("INVALID_REQUEST", "result")),
    ({"call_id": ""}, ("INVALID_REQUEST", "call_id")),
    ({"api": v1.MODEL_API_GEMINI, "name": ""}, ("INVALID_REQUEST", "name")),
    (
        {"context": protocol_service_pb2.ProtocolContext(protocol_version="1")},
        ("UNKNOWN_PROTOCOL_VERSION", ""),
    ),
]


@pytest.mark.parametrize(("more", "expected"), RESULTS)
def test_invalid_result_requests_are_rejected(
    stub: Any, more: dict[str, Any], expected: tuple[str, str]
) -> None:
    """The error names the missing or invalid field."""
    fields = {
        "api": v1.MODEL_API_ANTHROPIC,
        "result": protocol_service_pb2.ToolResult(json=json.dumps(RESULT).encode()),
        "call_id": "toolu_1",
        "name": "read_file",
        **more,
    }

    assert expected == rejection_of(stub.ConvertToolResult, v1.ConvertToolResultRequest(**fields))
