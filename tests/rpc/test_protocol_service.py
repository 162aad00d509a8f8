"""ProtocolService with a real server; rules are tested with their cases."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1 import target_pb2, verdict_pb2
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from support.running import RunningServer
from support.wire import error_info_of

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
BAD_CALL = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": 3}}
SAMPLING_MESSAGE = {"role": "user", "content": {"type": "text", "text": "?"}}
SAMPLING_PARAMS = {"messages": [SAMPLING_MESSAGE], "maxTokens": 1}
FORM = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ProtocolServiceStub(channel)


def text(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def message(value: Any, **more: Any) -> v1.ProtocolMessage:
    return v1.ProtocolMessage(json=text(value), **more)


def check_message(value: Any, **more: Any) -> v1.CheckMessageRequest:
    return v1.CheckMessageRequest(message=message(value), **more)


def codes(verdict: verdict_pb2.Verdict) -> list[str]:
    return [violation.code for violation in verdict.violations]


SINGLE: list[tuple[str, dict[str, Any]]] = [
    ("CheckElicitation", {"elicitation": v1.Elicitation(params=text(FORM))}),
    (
        "CheckElicitationResult",
        {"elicitation_result": v1.ElicitationResult(result=b'{"action": "cancel"}')},
    ),
    (
        "CheckSampling",
        {"sampling": v1.Sampling(params=text(SAMPLING_PARAMS))},
    ),
    ("CheckToolResult", {"tool_result": v1.ToolResult(json=b'{"content": []}')}),
    ("CheckMessage", {"message": message(PING)}),
]
EMPTY = [
    (method, {name: type(value)()}) for method, values in SINGLE for name, value in values.items()
]


def request_of(method: str, **fields: Any) -> Any:
    return getattr(v1, f"{method}Request")(**fields)


@pytest.mark.parametrize(("method", "fields"), SINGLE)
def test_valid_subjects_have_a_valid_verdict(stub: Any, method: str, fields: Any) -> None:
    """The result has no violations."""
    result = getattr(stub, method)(request_of(method, **fields)).result

    assert v1.CheckResult(verdict=verdict_pb2.Verdict(valid=True, enforced=True)) == result


@pytest.mark.parametrize(("method", "fields"), EMPTY)
def test_an_empty_text_is_not_json(stub: Any, method: str, fields: Any) -> None:
    """Invalid JSON is a violation, not a request error."""
    result = getattr(stub, method)(request_of(method, **fields)).result

    assert ["PAYLOAD_NOT_JSON"] == codes(result.verdict)


@pytest.mark.parametrize(("method", "fields"), SINGLE)
def test_a_request_without_a_subject_is_rejected(stub: Any, method: str, fields: Any) -> None:
    """The error names the missing field."""
    with pytest.raises(grpc.RpcError) as raised:
        getattr(stub, method)(request_of(method))

    info = error_info_of(raised.value)
    assert ("INVALID_REQUEST", [info.metadata["field"]]) == (info.reason, list(fields))


def capabilities(side: str, values: bytes) -> v1.ProtocolContext:
    context = v1.ProtocolContext()
    setattr(context, f"{side}_capabilities", values)
    return context


INVALID_TERMS = [
    pytest.param(
        {"context": v1.ProtocolContext(protocol_version="2020-01-01")},
        ("UNKNOWN_PROTOCOL_VERSION", None),
        id="an unknown version",
    ),
    *(
        pytest.param(
            {"context": capabilities(side, values)},
            ("INVALID_REQUEST", f"{side}_capabilities"),
            id=f"{side}: {values[:8]!r}",
        )
        for side in ("client", "server")
        for values in (b"", b"[]", b"null", b"{", b'{"a": 1, "a": 2}', b"\xff")
    ),
    pytest.param(
        {"context": v1.ProtocolContext(client_capabilities=b'"' + b"x" * (1 << 20) + b'"')},
        ("LIMIT_EXCEEDED", None),
        id="large capabilities",
    ),
    pytest.param(
        {"context": v1.ProtocolContext(client_capabilities=b"[" * 10_000)},
        ("LIMIT_EXCEEDED", None),
        id="deep capabilities",
    ),
    pytest.param(
        {"options": v1.CheckOptions(min_severity=9)},  # type: ignore[arg-type]
        ("INVALID_REQUEST", "min_severity"),
        id="a severity that does not exist",
    ),
]
METHODS = [
    *SINGLE,
    ("CheckToolNames", {}),
    ("CheckTools", {"tools": [target_pb2.InlineTool()]}),
    ("CheckBatch", {}),
]


@pytest.mark.parametrize(("invalid_fields", "expected"), INVALID_TERMS)
@pytest.mark.parametrize(("method", "fields"), METHODS, ids=[name for name, _ in METHODS])
def test_an_invalid_context_or_options_are_rejected(
    stub: Any, method: str, fields: Any, invalid_fields: Any, expected: Any
) -> None:
    """Every method returns an error that names the invalid field."""
    with pytest.raises(grpc.RpcError) as raised:
        getattr(stub, method)(request_of(method, **fields, **invalid_fields))

    info = error_info_of(raised.value)
    assert expected == (info.reason, info.metadata.get("field"))


def test_unknown_enum_values_are_rejected(stub: Any) -> None:
    """The error names the field."""
    message_request: Any = check_message(PING)
    message_request.message.sender = 9
    result_request: Any = v1.CheckToolResultRequest(tool_result=v1.ToolResult(json=b"{}"))
    result_request.tool_result.profile = 9
    fields = []
    for method, request in (("CheckMessage", message_request), ("CheckToolResult", result_request)):
        with pytest.raises(grpc.RpcError) as raised:
            getattr(stub, method)(request)
        fields.append(error_info_of(raised.value).metadata["field"])

    assert ["sender", "profile"] == fields


def test_an_unset_version_is_the_default(stub: Any) -> None:
    """The default version of `GetServerInfo` is 2025-11-25, which has no batches."""
    batch = stub.CheckMessage(check_message([PING])).result.verdict
    older = v1.ProtocolContext(protocol_version="2025-03-26")

    assert batch.violations[0].spec_url.count("2025-11-25") == 1
    assert stub.CheckMessage(check_message([PING], context=older)).result.verdict.valid


def test_messages_need_declared_capabilities(stub: Any) -> None:
    """Unset capabilities allow everything; empty capabilities allow nothing."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    empty = v1.ProtocolContext(server_capabilities=b"{}")

    assert stub.CheckMessage(check_message(request)).result.verdict.valid
    assert ["CAPABILITY_UNDECLARED"] == codes(
        stub.CheckMessage(check_message(request, context=empty)).result.verdict
    )


def test_an_invalid_request_has_an_error_response(stub: Any) -> None:
    """The verdict has the error object of the response."""
    result = stub.CheckMessage(check_message(BAD_CALL)).result
    response = json.loads(result.error_response)

    assert ("2.0", "a", -32602) == (response["jsonrpc"], response["id"], response["error"]["code"])
    assert response["error"] == json.loads(result.verdict.json_rpc_error)
    assert codes(result.verdict) == [
        violation["code"] for violation in response["error"]["data"]["violations"]
    ]


def test_a_batch_of_messages_has_a_response_for_each_error(stub: Any) -> None:
    """The verdict has no single JSON-RPC error."""
    older = v1.ProtocolContext(protocol_version="2025-03-26")
    result = stub.CheckMessage(check_message([PING, BAD_CALL, BAD_CALL], context=older)).result

    assert ["a", "a"] == [response["id"] for response in json.loads(result.error_response)]
    assert b"" == result.verdict.json_rpc_error


@pytest.mark.parametrize(
    "value",
    [
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": 3},
        {"jsonrpc": "2.0", "id": 1, "result": 3},
        {"jsonrpc": "2.0", "id": 1, "error": 3},
    ],
)
def test_notifications_and_responses_have_no_error_response(stub: Any, value: Any) -> None:
    """Only requests have responses."""
    result = stub.CheckMessage(check_message(value)).result

    assert not result.verdict.valid
    assert (b"", b"") == (result.error_response, result.verdict.json_rpc_error)


def test_options_limit_the_violations(stub: Any) -> None:
    """Options limit number, severity and values; validity is unchanged."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "hunter2/secret", "params": {"_meta": 3}}

    def verdict_with(**options: Any) -> verdict_pb2.Verdict:
        request = check_message(call, options=v1.CheckOptions(**options))
        verdict: verdict_pb2.Verdict = stub.CheckMessage(request).result.verdict
        return verdict

    unlimited, limited = verdict_with(), verdict_with(max_violations=1)
    assert len(unlimited.violations) > 1
    assert (1, True, False) == (len(limited.violations), limited.truncated, limited.valid)
    errors = verdict_with(min_severity=verdict_pb2.SEVERITY_ERROR)
    assert {verdict_pb2.SEVERITY_ERROR} == {violation.severity for violation in errors.violations}
    assert "hunter2" in str(unlimited)
    assert (
        b"hunter2"
        not in stub.CheckMessage(
            check_message(call, options=v1.CheckOptions(hide_values=True))
        ).SerializeToString()
    )


def test_a_message_beyond_the_grpc_limit_is_rejected(stub: Any) -> None:
    """The error is raised by gRPC."""
    with pytest.raises(grpc.RpcError) as raised:
        stub.CheckMessage(check_message(b"x" * 10_000_000))

    assert isinstance(raised.value, grpc.Call)
    assert grpc.StatusCode.RESOURCE_EXHAUSTED is raised.value.code()


def test_a_result_is_validated_against_the_output_schema(stub: Any) -> None:
    """An unknown tool is an error."""
    tool = {"name": "t", "inputSchema": {}, "outputSchema": {"required": ["total"]}}
    inline = target_pb2.Target(inline_tool=target_pb2.InlineTool(json=text(tool)))
    result = text({"content": [], "structuredContent": {}})

    def result_request(target: target_pb2.Target) -> v1.CheckToolResultRequest:
        return v1.CheckToolResultRequest(tool_result=v1.ToolResult(json=result, tool=target))

    verdict = stub.CheckToolResult(result_request(inline)).result.verdict
    assert [("REQUIRED", "/structuredContent")] == [
        (violation.code, violation.instance_location)
        for violation in verdict.violations
        if violation.severity == verdict_pb2.SEVERITY_ERROR
    ]
    unknown = target_pb2.Target(registered_tool=target_pb2.RegisteredTool(server="x", name="y"))
    with pytest.raises(grpc.RpcError) as raised:
        stub.CheckToolResult(result_request(unknown))
    assert "UNKNOWN_TOOL" == error_info_of(raised.value).reason


def test_the_text_profile_is_stricter(stub: Any) -> None:
    """Results that the specification allows may violate the text profile."""
    result = text({"content": [{"type": "text", "text": "x"}], "isError": False, "more": 1})

    def valid(profile: v1.ResultProfile) -> bool:
        tool_result = v1.ToolResult(json=result, profile=profile)
        check_result = stub.CheckToolResult(
            v1.CheckToolResultRequest(tool_result=tool_result)
        ).result
        return bool(check_result.verdict.valid)

    assert (True, True, False) == (
        valid(v1.RESULT_PROFILE_UNSPECIFIED),
        valid(v1.RESULT_PROFILE_SPECIFICATION),
        valid(v1.RESULT_PROFILE_TEXT),
    )
