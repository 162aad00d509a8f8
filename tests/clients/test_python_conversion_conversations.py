"""What the Python client says to the service of conversions, without any server."""

from typing import Any

import grpc
import pytest
from sidecheck import Converted, ModelApi, ToolResult, Unavailable, Verdict
from sidecheck.absence import OnUnavailable
from sidecheck.conversations import Call, Conversation, Conversations
from sidecheck.conversion_conversations import ConversionConversations
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import conversion_requests as requests
from sidecheck.wire import rpcs
from support.conversations import hold

GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
YES = verdict_pb.Verdict(valid=True, enforced=True)
RESULT = ToolResult(b"{}")


def conversations(policy: OnUnavailable = "raise") -> ConversionConversations:
    """Return the conversations of a client with that policy."""
    return ConversionConversations(Conversations(2.0, policy))


@pytest.mark.parametrize(("expected", "given"), [(2.0, None), (0.5, 0.5)])
def test_every_call_has_a_deadline(expected: float, given: float | None) -> None:
    """The client's own holds where the caller gives none."""
    talk = conversations()
    tools, made = hold(
        talk.tools(ModelApi.BEDROCK, [b"{}"], ["git"], None, given),
        conversion_pb.ConvertToolsResponse(
            conversions=[
                conversion_pb.ToolConversion(
                    converted=conversion_pb.ConvertedTool(json=b'{"toolSpec": {}}')
                )
            ],
            request=YES,
        ),
    )
    call, turned = hold(
        talk.call(b"{}", b"{}", None, None, given),
        conversion_pb.ConvertToolCallResponse(tool="n", verdict=YES),
    )
    result, told = hold(
        talk.result(ModelApi.OLLAMA, RESULT, "c", "n", None, None, given),
        conversion_pb.ConvertToolResultResponse(message=b"{}", verdict=YES),
    )

    assert ({"tools": [{"toolSpec": {}}]}, "n", b"{}") == (tools.tools, call.tool, result.message)
    assert [Verdict(valid=True)] * 3 == [tools.request, call.verdict, result.verdict]
    assert [
        Call(
            rpcs.CONVERT_TOOLS,
            requests.tools_request(ModelApi.BEDROCK, [b"{}"], ["git"], None),
            expected,
        ),
        Call(rpcs.RESTORE_TOOL_CALL, requests.call_request(b"{}", [b"{}"], None, None), expected),
        Call(
            rpcs.CONVERT_TOOL_RESULT,
            requests.result_request(ModelApi.OLLAMA, RESULT, "c", "n", None, None),
            expected,
        ),
    ] == [*made, *turned, *told]


def test_the_api_may_be_a_plain_string() -> None:
    """The answer knows it by its word all the same."""
    api: Any = "gemini"
    value, _ = hold(
        conversations().tools(api, [], [], None, None),
        conversion_pb.ConvertToolsResponse(request=YES),
    )

    assert (ModelApi.GEMINI, [{"functionDeclarations": []}]) == (value.api, value.tools)
    assert isinstance(value.api, ModelApi)
    assert [] == [one for one in value.conversions if isinstance(one.outcome, Converted)]


@pytest.mark.parametrize("policy", ["raise", "allow", "deny"])
def test_nobody_there_is_raised_under_every_policy(policy: OnUnavailable) -> None:
    """A tool, a call or a message cannot be made up."""
    talk = conversations(policy)
    held: list[Conversation[Any]] = [
        talk.tools(ModelApi.OLLAMA, [b"{}"], [], None, None),
        talk.call(b"{}", b"{}", None, None, None),
        talk.result(ModelApi.OLLAMA, RESULT, "c", "n", None, None, None),
    ]
    for conversation in held:
        with pytest.raises(Unavailable):
            hold(conversation, GONE)
