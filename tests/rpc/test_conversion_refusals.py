"""What ConversionService refuses: requests, calls and plans that nobody could make sense of."""

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
    converted,
    refused,
    target,
    to_convert,
    to_restore,
    tool_use,
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
def test_a_call_beyond_the_limits_of_payloads_is_refused(stub: Any, call: Any, bound: str) -> None:
    """As a payload is."""
    request = to_restore(call, converted(stub).mapping)

    assert ("LIMIT_EXCEEDED", bound) == refused(stub.ConvertToolCall, request)


def with_api(**more: Any) -> Any:
    return v1.ConvertToolsRequest(**{"api": v1.MODEL_API_ANTHROPIC, **more})


CONVERT: Any = [
    pytest.param(v1.ConvertToolsRequest(), ("INVALID_REQUEST", "api"), id="no API"),
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
def test_tools_that_nobody_could_convert_are_refused(
    stub: Any, request_: Any, expected: tuple[str, str]
) -> None:
    """With the field that is wrong."""
    assert expected == refused(stub.ConvertTools, request_)


def test_ten_thousand_tools_are_converted(stub: Any) -> None:
    """As many as a request may have, each with its own name."""
    tools = [{"name": f"t.{count % 9_999}", "inputSchema": {}} for count in range(10_000)]
    response = stub.ConvertTools(to_convert(*tools))
    names = {one.converted.name for one in response.conversions}

    assert ("INVALID_REQUEST", "tools") == (
        (info := info_of(response.conversions[0].refused)).reason,
        info.metadata["field"],
    )
    assert (10_000, 10_000) == (len(response.conversions), len(names))


LARGE = b'{"sidecheck_plan": 1, "more": "' + b"x" * (300 << 10) + b'"}'
DEEP = b'{"sidecheck_plan": 1, "guide": ' + b'{"items":' * 5_000


@pytest.mark.parametrize(
    ("plans", "expected"),
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
def test_plans_that_are_none_are_refused(stub: Any, plans: list[bytes], expected: str) -> None:
    """They come from outside."""
    assert expected == refused(stub.ConvertToolCall, to_restore(tool_use(), *plans))[0]


def test_a_plan_that_belongs_to_something_else_is_refused(stub: Any) -> None:
    """To another call, or to another definition."""
    plan = converted(stub).mapping
    other = target({**TOOL, "title": "?"})

    assert "MAPPING_MISMATCH" == refused(stub.ConvertToolCall, to_restore(tool_use("x"), plan))[0]
    assert (
        "MAPPING_MISMATCH"
        == refused(stub.ConvertToolCall, to_restore(tool_use(), plan, tool=other))[0]
    )


def test_options_that_do_not_exist_are_refused(stub: Any) -> None:
    """Those of validation are the same here."""
    options = options_pb2.ValidationOptions(coercion=9)  # type: ignore[arg-type]
    request = to_restore(tool_use(), converted(stub).mapping, options=options)

    assert ("INVALID_REQUEST", "coercion") == refused(stub.ConvertToolCall, request)


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
def test_results_that_cannot_be_told_are_refused(
    stub: Any, more: dict[str, Any], expected: tuple[str, str]
) -> None:
    """With what is missing."""
    fields = {
        "api": v1.MODEL_API_ANTHROPIC,
        "result": protocol_service_pb2.ToolResult(json=json.dumps(RESULT).encode()),
        "call_id": "toolu_1",
        "name": "read_file",
        **more,
    }

    assert expected == refused(stub.ConvertToolResult, v1.ConvertToolResultRequest(**fields))
