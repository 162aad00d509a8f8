"""Calls of the Python client to ConversionService, without a server."""

from collections.abc import Callable
from typing import Any

import grpc
import pytest
from sidecheck import BlockingClient, ModelApi, OnUnavailable, ToolResult, Unavailable, Verdict
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import conversion
from support.scripted_calls import Call, replay, scripted_client

GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
YES = verdict_pb.Verdict(valid=True, enforced=True)
RESULT = ToolResult(b"{}")


@pytest.mark.parametrize(("expected", "timeout"), [(2.0, None), (0.5, 0.5)])
def test_each_call_has_a_deadline(expected: float, timeout: float | None) -> None:
    """The default is the timeout of the client."""
    client = scripted_client()
    tools, tools_calls = replay(
        client,
        lambda client: client.conversion.convert_tools(
            ModelApi.BEDROCK, [b"{}"], servers=["git"], timeout=timeout
        ),
        conversion_pb.ConvertToolsResponse(
            conversions=[
                conversion_pb.ToolConversion(
                    converted=conversion_pb.ConvertedTool(json=b'{"toolSpec": {}}')
                )
            ],
            request=YES,
        ),
    )
    call, call_calls = replay(
        client,
        lambda client: client.conversion.convert_tool_call(b"{}", b"{}", timeout=timeout),
        conversion_pb.ConvertToolCallResponse(tool="n", verdict=YES),
    )
    result, result_calls = replay(
        client,
        lambda client: client.conversion.convert_tool_result(
            ModelApi.OLLAMA, b"{}", call_id="c", name="n", timeout=timeout
        ),
        conversion_pb.ConvertToolResultResponse(message=b"{}", verdict=YES),
    )

    assert ({"tools": [{"toolSpec": {}}]}, "n", b"{}") == (tools.tools, call.tool, result.message)
    assert [Verdict(valid=True)] * 3 == [tools.request, call.verdict, result.verdict]
    assert [
        Call(conversion.encode_tools(ModelApi.BEDROCK, [b"{}"], ["git"], None), expected),
        Call(conversion.encode_call(b"{}", [b"{}"], None, None), expected),
        Call(
            conversion.encode_result(ModelApi.OLLAMA, RESULT, "c", "n", None, None),
            expected,
        ),
    ] == [*tools_calls, *call_calls, *result_calls]


def test_the_api_may_be_a_plain_string() -> None:
    """The result has the enumeration member."""
    api: Any = "gemini"
    converted, _ = replay(
        scripted_client(),
        lambda client: client.conversion.convert_tools(api),
        conversion_pb.ConvertToolsResponse(request=YES),
    )

    assert (ModelApi.GEMINI, [{"functionDeclarations": []}]) == (converted.api, converted.tools)
    assert isinstance(converted.api, ModelApi)
    assert () == converted.converted


@pytest.mark.parametrize("policy", ["error", "allow", "deny"])
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda client: client.conversion.convert_tools(ModelApi.OLLAMA), id="tools"),
        pytest.param(lambda client: client.conversion.convert_tool_call(b"{}", b"{}"), id="call"),
        pytest.param(
            lambda client: client.conversion.convert_tool_result(
                ModelApi.OLLAMA, b"{}", call_id="c", name="n"
            ),
            id="result",
        ),
    ],
)
def test_unavailable_is_raised_under_every_policy(
    call: Callable[[BlockingClient], object], policy: OnUnavailable
) -> None:
    """A conversion has no fallback."""
    with pytest.raises(Unavailable):
        replay(scripted_client(policy), call, GONE)
