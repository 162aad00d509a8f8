"""What the Python client says of definitions and results, without any server."""

from typing import Any, cast

import grpc
import pytest
from sidecheck import (
    CheckOptions,
    DefinitionDigest,
    JsonText,
    ProtocolContext,
    Severity,
    Unavailable,
    Verdict,
)
from sidecheck.absence import OnUnavailable
from sidecheck.conversations import Call, Conversation, Conversations
from sidecheck.inference_conversations import InferenceConversations
from sidecheck.protocol_conversations import ProtocolConversations
from sidecheck.returned import AdaptedTool, NormalizedResult, Returned
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import returned_requests as requests
from sidecheck.wire import rpcs
from support.conversations import hold

GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
YES = verdict_pb.Verdict(valid=True, enforced=True)
VALUE = Returned(value=1)


@pytest.mark.parametrize(("expected", "given"), [(2.0, None), (0.5, 0.5)])
def test_every_call_has_a_deadline(expected: float, given: float | None) -> None:
    """The client's own holds where the caller gives none."""
    ground = Conversations(2.0, "raise")
    tool, adapt_schema = hold(
        InferenceConversations(ground).project(b"{}", "2025-06-18", given),
        inference_pb.AdaptToolResponse(
            json=b"{}", wrapped_property="result", dropped_properties=["icons"]
        ),
    )
    result, made = hold(
        ProtocolConversations(ground).normalize(VALUE, None, None, given),
        protocol_pb.NormalizeToolResultResponse(result=b"{}", verdict=YES),
    )

    assert (
        AdaptedTool(json=JsonText(b"{}"), box="result", left_out=("icons",)),
        NormalizedResult(result=JsonText(b"{}"), verdict=Verdict(valid=True)),
    ) == (tool, result)
    assert [
        Call(rpcs.PROJECT_TOOL, requests.projection_request(b"{}", "2025-06-18"), expected),
        Call(
            rpcs.NORMALIZE_TOOL_RESULT, requests.normalization_request(VALUE, None, None), expected
        ),
    ] == [*adapt_schema, *made]


@pytest.mark.parametrize("policy", ["raise", "allow", "deny"])
def test_nobody_makes_up_a_definition_or_a_result(policy: OnUnavailable) -> None:
    """Whatever the client does without verdicts."""
    ground = Conversations(2.0, policy)
    talks: list[Conversation[Any]] = [
        InferenceConversations(ground).project(b"{}", "", None),
        ProtocolConversations(ground).normalize(VALUE, None, None, None),
    ]
    for talk in talks:
        with pytest.raises(Unavailable):
            hold(talk, GONE)


def test_everything_that_is_said_goes_along() -> None:
    """The tool, the profile, the peers and the options."""
    returned = Returned(content=[{"type": "text"}], tool=DefinitionDigest("d"), profile="text")
    how = CheckOptions(max_violations=3, hide_values=True, min_severity=Severity.ERROR)

    assert protocol_pb.NormalizeToolResultRequest(
        context=protocol_pb.ProtocolContext(protocol_version="2025-06-18"),
        options=protocol_pb.CheckOptions(
            max_violations=3, hide_values=True, min_severity=verdict_pb.SEVERITY_ERROR
        ),
        content=b'[{"type":"text"}]',
        tool=target_pb.Target(definition_digest="d"),
        profile=protocol_pb.RESULT_PROFILE_TEXT,
    ) == requests.normalization_request(returned, ProtocolContext("2025-06-18"), how)
    assert inference_pb.AdaptToolRequest(
        tool=target_pb.Target(definition_digest="d"), protocol_version="v"
    ) == requests.projection_request(DefinitionDigest("d"), "v")


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ({"value": b"null"}, {"value": None}),
        ({"value": b'"{}"'}, {"value": "{}"}),
        ({"value": b'"e30="'}, {"value": b"{}"}),
        ({"value": b"{}"}, {"value": JsonText(b"{}")}),
        ({"content": b"{}"}, {"content": b"{}"}),
        ({"content": b"{}"}, {"content": "{}"}),
        ({"result": b'{"content":[]}'}, {"result": {"content": []}}),
        ({"error": "TimeoutError"}, {"error": TimeoutError()}),
        ({"error": ""}, {"error": ""}),
    ],
)
def test_each_way_has_its_own_form(expected: dict[str, Any], given: dict[str, Any]) -> None:
    """Only of a value is a text no JSON text."""
    request = requests.normalization_request(Returned(**given), None, None)
    way = cast("str", request.WhichOneof("returned"))

    assert expected == {way: getattr(request, way)}
