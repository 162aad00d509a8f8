"""Parent of a span: from metadata of the call, `_meta` of its message, or both."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import protocol_service_pb2 as protocol
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as validation
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest
from sidecheck.v1.info_service_pb2_grpc import InfoServiceStub
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.observability.tracing.calls import context_of_message
from support.agentgateway import Agentgateway
from support.collector import trees
from support.traced_server import Caller, TracedServer

CHECK_MESSAGE = "sidecheck.v1.ProtocolService/CheckMessage"


def call_of(meta: Any, id_: int = 1) -> bytes:
    """Return a request of MCP."""
    params = {"name": "t", "arguments": {}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def message_request(text: bytes) -> protocol.CheckMessageRequest:
    message = protocol.ProtocolMessage(json=text, sender=protocol.SENDER_CLIENT)
    return protocol.CheckMessageRequest(message=message)


def links_of(span: Any) -> list[tuple[str, str]]:
    return [(link.trace_id.hex(), link.span_id.hex()) for link in span.links]


def test_a_call_without_context_begins_a_trace(traced: TracedServer) -> None:
    """Its span has no parent."""
    InfoServiceStub(traced.channel).GetServerInfo(GetServerInfoRequest())

    spans = traced.collector.wait_for_call("GetServerInfo")
    assert b"" in {span.parent_span_id for span in spans if span.name.endswith("/GetServerInfo")}


@pytest.mark.parametrize(
    "traceparent",
    ["", "00-0-0-01", f"00-{'0' * 32}-{'1' * 16}-01", f"ff-{'1' * 32}-{'1' * 16}-01", "x" * 5000],
    ids=["empty", "short", "no trace", "version", "long"],
)
def test_an_invalid_context_is_ignored(traced: TracedServer, traceparent: str) -> None:
    """An invalid context in metadata or in a message does not fail a call."""
    carrier = Caller.new()
    stub = ProtocolServiceStub(traced.channel)
    text = call_of({"traceparent": traceparent})
    stub.CheckMessage(message_request(text), metadata=carrier.metadata)
    stub.CheckMessage(message_request(text), metadata=(("traceparent", traceparent),))

    [span] = [span for span in traced.spans_of(carrier) if span.name == CHECK_MESSAGE]
    assert [] == links_of(span)


def test_a_message_has_the_parent_span(traced: TracedServer, caller: Caller) -> None:
    """The parent and its trace state come from `_meta` of the message."""
    meta = {"traceparent": caller.traceparent, "tracestate": "vendor=x", "baggage": "a=b"}
    ProtocolServiceStub(traced.channel).CheckMessage(message_request(call_of(meta)))

    [span] = traced.spans_of(caller)
    assert (CHECK_MESSAGE, "vendor=x", []) == (span.name, span.trace_state, links_of(span))


def test_the_carrier_of_a_message_is_linked(traced: TracedServer, caller: Caller) -> None:
    """The metadata of the call must have a context too."""
    carrier = Caller.new()
    request = message_request(call_of({"traceparent": caller.traceparent}))
    ProtocolServiceStub(traced.channel).CheckMessage(request, metadata=carrier.metadata)

    [span] = traced.spans_of(caller)
    assert [(carrier.trace_id, carrier.span_id)] == links_of(span)


def test_params_of_a_call(traced: TracedServer, caller: Caller) -> None:
    """They have `_meta` as well, where a call is validated without its message."""
    params = json.loads(call_of({"traceparent": caller.traceparent}))["params"]
    tool = json.dumps({"name": "t", "inputSchema": {"type": "object"}}).encode()
    target = target_pb2.Target(inline_tool=target_pb2.InlineTool(json=tool))
    subject = target_pb2.Subject(call_params=json.dumps(params).encode())
    request = validation.ValidateRequest(target=target, subject=subject)
    response = ValidationServiceStub(traced.channel).Validate(request)

    assert response.verdict.valid
    assert {"sidecheck.v1.ValidationService/Validate", "lookup", "evaluate"} <= {
        span.name for span in traced.spans_of(caller)
    }


def test_messages_of_a_session(traced: TracedServer, caller: Caller) -> None:
    """Each that has a context has a span in its own trace, linked to that of the stream."""
    first, second = Caller.new(), Caller.new()
    texts = [
        call_of({"traceparent": first.traceparent}, 1),
        call_of({}, 2),
        call_of({"traceparent": second.traceparent}, 3),
    ]

    def requests() -> Iterator[protocol.CheckSessionRequest]:
        yield protocol.CheckSessionRequest(defaults=protocol.SessionDefaults())
        for text in texts:
            message = message_request(text).message
            yield protocol.CheckSessionRequest(item=protocol.SessionItem(message=message))

    stub = ProtocolServiceStub(traced.channel)
    responses = list(stub.CheckSession(requests(), metadata=caller.metadata))

    [stream] = traced.spans_of(caller)
    assert len(texts) + 1 == len(responses)
    for sender, response in ((first, responses[0]), (second, responses[2])):
        [span] = traced.spans_of(sender)
        assert "sidecheck.v1.ProtocolService/CheckSession message" == span.name
        assert [(caller.trace_id, stream.span_id.hex())] == links_of(span)
        attributes = {entry.key: entry.value for entry in span.attributes}
        verdict = response.outcome.result.verdict
        outcome = "valid" if verdict.valid else "invalid"
        assert outcome == attributes["sidecheck.outcome"].string_value
        assert len(verdict.violations) == attributes["sidecheck.violations"].int_value


def test_params_in_a_stream(traced: TracedServer, caller: Caller) -> None:
    """Their span and its children belong to the trace of the sender."""
    sender, schema = Caller.new(), b'{"name": "t", "inputSchema": {"type": "object"}}'
    params = json.loads(call_of({"traceparent": sender.traceparent}))["params"]
    item = validation.ValidateItem(
        target=target_pb2.Target(inline_tool=target_pb2.InlineTool(json=schema)),
        subject=target_pb2.Subject(call_params=json.dumps(params).encode()),
    )
    request = validation.ValidateStreamRequest(item=validation.StreamItem(item=item))
    stub = ValidationServiceStub(traced.channel)
    [response] = stub.ValidateStream(iter([request]), metadata=caller.metadata)

    assert response.outcome.verdict.valid
    assert ["sidecheck.v1.ValidationService/ValidateStream"] == [
        span.name for span in traced.spans_of(caller)
    ]
    [tree] = trees(traced.spans_of(sender))
    assert ("sidecheck.v1.ValidationService/ValidateStream message", "valid", 1) == (
        tree.name,
        tree.attributes["sidecheck.outcome"],
        tree.links,
    )
    assert {"lookup", "evaluate"} == {child.name for child in tree.children}


async def test_the_context_reaches_through_a_gateway(traced: TracedServer, caller: Caller) -> None:
    """In-process calls of the gateway belong to the trace of the message."""

    def server(method: str, params: Any) -> Any:
        return {
            "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": []},
        }[method]

    async with grpc.aio.insecure_channel(traced.server.address) as channel:
        metadata = {"arguments": "enforce", "messages": "enforce"}
        gateway = Agentgateway(channel, {"s": server}, metadata)
        await gateway.request("tools/list")
        params = {"name": "t", "arguments": {}, "_meta": {"traceparent": caller.traceparent}}
        answer = await gateway.request("tools/call", params)

    assert {"result": {"content": []}} == answer
    names = {span.name for span in traced.spans_of(caller, 2)}
    assert {
        "sidecheck.v1.ValidationService/Validate",
        "sidecheck.v1.ProtocolService/CheckSession",
    } <= names


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'{"params":{"_meta":{"traceparent":1}}}', id="number"),
        pytest.param(b'{"params":{"_meta":["traceparent"]}}', id="list"),
        pytest.param(b'{"params":["traceparent"]}', id="params"),
        pytest.param(b'[{"params":{"_meta":{"traceparent":"x"}}}]', id="batch"),
        pytest.param(b'{"traceparent"', id="no JSON"),
        pytest.param(b'{"x":"\xff","traceparent":1}', id="no text"),
        pytest.param(b'{"traceparent":' + b"[" * 100_000, id="deep"),
        pytest.param(b'{"x":' + b"[" * 5000 + b"]" * 5000 + b',"traceparent":1}', id="skipped"),
    ],
)
def test_messages_without_a_context(text: bytes) -> None:
    """Their content is arbitrary, and causes no error."""
    assert context_of_message(message_request(text)) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_no_rule_is_against_a_context(traced: TracedServer, caller: Caller, version: str) -> None:
    """This holds in every version of the protocol."""
    meta = {"traceparent": caller.traceparent, "tracestate": "vendor=x", "baggage": "a=b;c"}
    request = message_request(call_of(meta))
    request.context.protocol_version = version
    bare = message_request(call_of({}))
    bare.context.protocol_version = version
    stub = ProtocolServiceStub(traced.channel)

    with_context = stub.CheckMessage(request).result.verdict.violations
    without = stub.CheckMessage(bare).result.verdict.violations
    assert [violation.code for violation in with_context] == [
        violation.code for violation in without
    ]
