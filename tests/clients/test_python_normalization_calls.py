"""Calls of the Python client that normalize tool results, without a server."""

from typing import Any, cast

import grpc
import pytest
from sidecheck import (
    CheckOptions,
    DefinitionDigest,
    JsonText,
    OnUnavailable,
    ProtocolContext,
    Severity,
    Unavailable,
    Verdict,
)
from sidecheck.return_values import NormalizedResult, ReturnValue
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import normalization
from support.scripted_calls import Call, replay, scripted_client

GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
YES = verdict_pb.Verdict(valid=True, enforced=True)
VALUE = ReturnValue(value=1)


@pytest.mark.parametrize(("expected", "timeout"), [(2.0, None), (0.5, 0.5)])
def test_each_call_has_a_deadline(expected: float, timeout: float | None) -> None:
    """The default is the timeout of the client."""
    result, calls = replay(
        scripted_client(),
        lambda client: client.protocol.normalize_tool_result(1, timeout=timeout),
        protocol_pb.NormalizeToolResultResponse(result=b"{}", verdict=YES),
    )
    assert NormalizedResult(result=JsonText(b"{}"), verdict=Verdict(valid=True)) == result
    assert [Call(normalization.encode_normalization(VALUE, None, None), expected)] == calls


@pytest.mark.parametrize("policy", ["error", "allow", "deny"])
def test_unavailable_is_raised_under_every_policy(policy: OnUnavailable) -> None:
    """A result has no fallback."""
    with pytest.raises(Unavailable):
        replay(
            scripted_client(policy), lambda client: client.protocol.normalize_tool_result(1), GONE
        )


def test_all_arguments_are_sent() -> None:
    """Tool, profile, context and options are encoded."""
    return_value = ReturnValue(
        content=[{"type": "text"}], tool=DefinitionDigest("d"), profile="text"
    )
    options = CheckOptions(max_violations=3, hide_values=True, min_severity=Severity.ERROR)

    assert protocol_pb.NormalizeToolResultRequest(
        context=protocol_pb.ProtocolContext(protocol_version="2025-06-18"),
        options=protocol_pb.CheckOptions(
            max_violations=3, hide_values=True, min_severity=verdict_pb.SEVERITY_ERROR
        ),
        content=b'[{"type":"text"}]',
        tool=target_pb.Target(definition_digest="d"),
        profile=protocol_pb.RESULT_PROFILE_TEXT,
    ) == normalization.encode_normalization(return_value, ProtocolContext("2025-06-18"), options)


@pytest.mark.parametrize(
    ("expected", "fields"),
    [
        ({"value": b"null"}, {"value": None}),
        ({"value": b'"{}"'}, {"value": "{}"}),
        ({"value": b"{}"}, {"value": b"{}"}),
        ({"value": b'["e30="]'}, {"value": [b"{}"]}),
        ({"value": b"{}"}, {"value": JsonText(b"{}")}),
        ({"content": b"{}"}, {"content": b"{}"}),
        ({"content": b'[{"type":"text"}]'}, {"content": [{"type": "text"}]}),
        ({"result": b'{"content":[]}'}, {"result": {"content": []}}),
        ({"error": "TimeoutError"}, {"error": TimeoutError()}),
        ({"error": ""}, {"error": ""}),
    ],
)
def test_each_field_has_its_own_encoding(expected: dict[str, Any], fields: dict[str, Any]) -> None:
    """Bytes are JSON text in every field but `error`; inside of a value they are Base64."""
    request = normalization.encode_normalization(ReturnValue(**fields), None, None)
    field = cast("str", request.WhichOneof("returned"))

    assert expected == {field: getattr(request, field)}
