"""ProtocolService, through a real server; what its rules find is tested by their cases."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1 import target_pb2, verdict_pb2
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from support.running import RunningServer
from support.wire import refusal_of

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
BAD_CALL = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": 3}}
SAID = {"role": "user", "content": {"type": "text", "text": "?"}}
ASKED = {"messages": [SAID], "maxTokens": 1}
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
    return [found.code for found in verdict.violations]


SINGLE: list[tuple[str, dict[str, Any]]] = [
    ("CheckElicitation", {"elicitation": v1.Elicitation(params=text(FORM))}),
    (
        "CheckElicitationResult",
        {"elicitation_result": v1.ElicitationResult(result=b'{"action": "cancel"}')},
    ),
    (
        "CheckSampling",
        {"sampling": v1.Sampling(params=text(ASKED))},
    ),
    ("CheckToolResult", {"tool_result": v1.ToolResult(json=b'{"content": []}')}),
    ("CheckMessage", {"message": message(PING)}),
]
EMPTY = [(method, {name: type(sent)()}) for method, given in SINGLE for name, sent in given.items()]


def request_of(method: str, **fields: Any) -> Any:
    return getattr(v1, f"{method}Request")(**fields)


@pytest.mark.parametrize(("method", "fields"), SINGLE)
def test_what_is_in_order_is_valid(stub: Any, method: str, fields: Any) -> None:
    """And says nothing else."""
    answer = getattr(stub, method)(request_of(method, **fields)).answer

    assert v1.CheckResult(verdict=verdict_pb2.Verdict(valid=True, enforced=True)) == answer


@pytest.mark.parametrize(("method", "fields"), EMPTY)
def test_nothing_is_no_json(stub: Any, method: str, fields: Any) -> None:
    """A broken text is an answer."""
    answer = getattr(stub, method)(request_of(method, **fields)).answer

    assert ["PAYLOAD_NOT_JSON"] == codes(answer.verdict)


@pytest.mark.parametrize(("method", "fields"), SINGLE)
def test_a_request_without_a_subject_is_refused(stub: Any, method: str, fields: Any) -> None:
    """It names the field that it lacks."""
    with pytest.raises(grpc.RpcError) as caught:
        getattr(stub, method)(request_of(method))

    info = refusal_of(caught.value)
    assert ("INVALID_REQUEST", [info.metadata["field"]]) == (info.reason, list(fields))


def capabilities(side: str, given: bytes) -> v1.ProtocolContext:
    context = v1.ProtocolContext()
    setattr(context, f"{side}_capabilities", given)
    return context


REFUSED = [
    pytest.param(
        {"context": v1.ProtocolContext(protocol_version="2020-01-01")},
        ("UNKNOWN_PROTOCOL_VERSION", None),
        id="an unknown version",
    ),
    *(
        pytest.param(
            {"context": capabilities(side, given)},
            ("INVALID_REQUEST", f"{side}_capabilities"),
            id=f"{side}: {given[:8]!r}",
        )
        for side in ("client", "server")
        for given in (b"", b"[]", b"null", b"{", b'{"a": 1, "a": 2}', b"\xff")
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


@pytest.mark.parametrize(("terms", "expected"), REFUSED)
@pytest.mark.parametrize(("method", "fields"), METHODS, ids=[name for name, _ in METHODS])
def test_terms_that_do_not_hold_are_refused(
    stub: Any, method: str, fields: Any, terms: Any, expected: Any
) -> None:
    """By every method, and with the field that is wrong."""
    with pytest.raises(grpc.RpcError) as caught:
        getattr(stub, method)(request_of(method, **fields, **terms))

    info = refusal_of(caught.value)
    assert expected == (info.reason, info.metadata.get("field"))


def test_enum_values_that_do_not_exist_are_refused(stub: Any) -> None:
    """Never ignored in silence."""
    sent: Any = check_message(PING)
    sent.message.sender = 9
    given: Any = v1.CheckToolResultRequest(tool_result=v1.ToolResult(json=b"{}"))
    given.tool_result.profile = 9
    fields = []
    for method, request in (("CheckMessage", sent), ("CheckToolResult", given)):
        with pytest.raises(grpc.RpcError) as caught:
            getattr(stub, method)(request)
        fields.append(refusal_of(caught.value).metadata["field"])

    assert ["sender", "profile"] == fields


def test_an_unset_version_is_the_default(stub: Any) -> None:
    """As `GetServerInfo` names it: 2025-11-25, which has no batches."""
    batch = stub.CheckMessage(check_message([PING])).answer.verdict
    older = v1.ProtocolContext(protocol_version="2025-03-26")

    assert batch.violations[0].clause.count("2025-11-25") == 1
    assert stub.CheckMessage(check_message([PING], context=older)).answer.verdict.valid


def test_capabilities_that_are_known_are_held_against_messages(stub: Any) -> None:
    """Unset, nothing needs one; empty, everything does."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    empty = v1.ProtocolContext(server_capabilities=b"{}")

    assert stub.CheckMessage(check_message(request)).answer.verdict.valid
    assert ["CAPABILITY_UNDECLARED"] == codes(
        stub.CheckMessage(check_message(request, context=empty)).answer.verdict
    )


def test_a_message_with_an_error_comes_with_its_reply(stub: Any) -> None:
    """The whole response; the verdict has the error in it."""
    answer = stub.CheckMessage(check_message(BAD_CALL)).answer
    reply = json.loads(answer.reply)

    assert ("2.0", "a", -32602) == (reply["jsonrpc"], reply["id"], reply["error"]["code"])
    assert reply["error"] == json.loads(answer.verdict.json_rpc_error)
    assert codes(answer.verdict) == [one["code"] for one in reply["error"]["data"]["violations"]]


def test_a_batch_of_messages_has_a_reply_for_each_error(stub: Any) -> None:
    """So the verdict has no one error to name."""
    older = v1.ProtocolContext(protocol_version="2025-03-26")
    answer = stub.CheckMessage(check_message([PING, BAD_CALL, BAD_CALL], context=older)).answer

    assert ["a", "a"] == [one["id"] for one in json.loads(answer.reply)]
    assert b"" == answer.verdict.json_rpc_error


@pytest.mark.parametrize(
    "value",
    [
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": 3},
        {"jsonrpc": "2.0", "id": 1, "result": 3},
        {"jsonrpc": "2.0", "id": 1, "error": 3},
    ],
)
def test_what_is_no_request_has_no_reply(stub: Any, value: Any) -> None:
    """Notifications and responses are not answered."""
    answer = stub.CheckMessage(check_message(value)).answer

    assert not answer.verdict.valid
    assert (b"", b"") == (answer.reply, answer.verdict.json_rpc_error)


def test_options_bound_what_is_told(stub: Any) -> None:
    """How many, how grave, and whether with values; the verdict is the same."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "hunter2/secret", "params": {"_meta": {"?": 1}}}

    def told(**options: Any) -> verdict_pb2.Verdict:
        request = check_message(call, options=v1.CheckOptions(**options))
        verdict: verdict_pb2.Verdict = stub.CheckMessage(request).answer.verdict
        return verdict

    everything, one = told(), told(max_violations=1)
    assert len(everything.violations) > 1
    assert (1, True, False) == (len(one.violations), one.truncated, one.valid)
    errors = told(min_severity=verdict_pb2.SEVERITY_ERROR)
    assert {verdict_pb2.SEVERITY_ERROR} == {found.severity for found in errors.violations}
    assert "hunter2" in str(everything)
    assert (
        b"hunter2"
        not in stub.CheckMessage(
            check_message(call, options=v1.CheckOptions(hide_values=True))
        ).SerializeToString()
    )


def test_a_message_larger_than_any_may_be_is_refused(stub: Any) -> None:
    """By gRPC itself."""
    with pytest.raises(grpc.RpcError) as caught:
        stub.CheckMessage(check_message(b"x" * 10_000_000))

    assert isinstance(caught.value, grpc.Call)
    assert grpc.StatusCode.RESOURCE_EXHAUSTED is caught.value.code()


def test_the_tool_that_gave_a_result_judges_its_content(stub: Any) -> None:
    """Under its output schema; a tool that is unknown is a refusal."""
    tool = {"name": "t", "inputSchema": {}, "outputSchema": {"required": ["total"]}}
    inline = target_pb2.Target(inline_tool=target_pb2.InlineTool(json=text(tool)))
    result = text({"content": [], "structuredContent": {}})

    def asked(target: target_pb2.Target) -> v1.CheckToolResultRequest:
        return v1.CheckToolResultRequest(tool_result=v1.ToolResult(json=result, tool=target))

    verdict = stub.CheckToolResult(asked(inline)).answer.verdict
    assert [("REQUIRED", "/structuredContent")] == [
        (found.code, found.instance_location)
        for found in verdict.violations
        if found.severity == verdict_pb2.SEVERITY_ERROR
    ]
    named = target_pb2.Target(registered_tool=target_pb2.RegisteredTool(server="x", name="y"))
    with pytest.raises(grpc.RpcError) as caught:
        stub.CheckToolResult(asked(named))
    assert "UNKNOWN_TOOL" == refusal_of(caught.value).reason


def test_the_text_contract_is_a_profile(stub: Any) -> None:
    """What the specification allows may be more than it does."""
    result = text({"content": [{"type": "text", "text": "x"}], "isError": False, "more": 1})

    def valid(profile: v1.ResultProfile) -> bool:
        sent = v1.ToolResult(json=result, profile=profile)
        answer = stub.CheckToolResult(v1.CheckToolResultRequest(tool_result=sent)).answer
        return bool(answer.verdict.valid)

    assert (True, True, False) == (
        valid(v1.RESULT_PROFILE_UNSPECIFIED),
        valid(v1.RESULT_PROFILE_SPECIFICATION),
        valid(v1.RESULT_PROFILE_TEXT),
    )
