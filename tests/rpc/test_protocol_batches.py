"""Batches of ProtocolService, with hostile items."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1 import target_pb2, verdict_pb2
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from support.running import RunningServer
from support.wire import error_info_of, info_of

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ProtocolServiceStub(channel)


def message(value: Any) -> v1.ProtocolMessage:
    return v1.ProtocolMessage(
        json=value if isinstance(value, bytes) else json.dumps(value).encode()
    )


def codes(verdict: verdict_pb2.Verdict) -> list[str]:
    return [violation.code for violation in verdict.violations]


HOSTILE = [
    pytest.param(b"[" * 10_000, "LIMIT_EXCEEDED", id="deep"),
    pytest.param(b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "LIMIT_EXCEEDED", id="deep objects"),
    pytest.param(b'"' + b"x" * (1 << 20) + b'"', "LIMIT_EXCEEDED", id="large"),
    pytest.param(b"\xff", "PAYLOAD_NOT_JSON", id="not UTF-8"),
    pytest.param(b'"\\ud800"', "PAYLOAD_NOT_JSON", id="lone surrogate"),
    pytest.param(b'{"a": 1, "a": 2}', "DUPLICATE_KEY", id="duplicate key"),
    pytest.param(b"1e9999", "LIMIT_EXCEEDED", id="a large number"),
]


@pytest.mark.parametrize(("payload", "code"), HOSTILE)
def test_hostile_texts_get_a_verdict_or_an_error(stub: Any, payload: bytes, code: str) -> None:
    """Single calls and batches agree; other items are unaffected."""
    items = [
        v1.CheckItem(elicitation=v1.Elicitation(params=payload)),
        v1.CheckItem(elicitation_result=v1.ElicitationResult(result=payload)),
        v1.CheckItem(sampling=v1.Sampling(params=payload)),
        v1.CheckItem(tool_result=v1.ToolResult(json=payload)),
        v1.CheckItem(message=message(payload)),
        v1.CheckItem(message=message(PING)),
    ]
    # A message has room for two large items.
    for start in range(0, len(items), 2):
        batch = [*items[start : start + 2], v1.CheckItem(message=message(PING))]
        outcomes = stub.CheckBatch(v1.CheckBatchRequest(items=batch)).outcomes
        expected = [
            [] if item.message.json == json.dumps(PING).encode() else [code] for item in batch
        ]
        assert expected == [reported(outcome) for outcome in outcomes]
    single = []
    for item in items[:-1]:
        name = item.WhichOneof("item")
        assert name is not None
        method = "Check" + "".join(map(str.capitalize, name.split("_")))
        try:
            result = getattr(stub, method)(
                getattr(v1, f"{method}Request")(**{name: getattr(item, name)})
            ).result
            single.append(codes(result.verdict))
        except grpc.RpcError as error:
            single.append([error_info_of(error).reason])
    assert [[code]] * len(single) == single


def reported(outcome: v1.CheckOutcome) -> list[str]:
    """Return the codes of the verdict, or the reason of the error."""
    if outcome.HasField("error"):
        return [info_of(outcome.error).reason]
    return codes(outcome.result.verdict)


def test_an_invalid_item_does_not_affect_others(stub: Any) -> None:
    """Outcomes are in the order of the items."""
    invalid: Any = v1.CheckItem(message=message(PING))
    invalid.message.sender = 9
    unknown = target_pb2.Target(schema_digest="sha256:00")
    items = [
        v1.CheckItem(),
        v1.CheckItem(message=message(PING)),
        invalid,
        v1.CheckItem(tool_result=v1.ToolResult(json=b'{"content": []}', tool=unknown)),
        v1.CheckItem(message=message({**PING, "jsonrpc": "1.0"})),
    ]
    outcomes = stub.CheckBatch(v1.CheckBatchRequest(items=items)).outcomes

    first, second, third, fourth, fifth = map(reported, outcomes)
    assert (["INVALID_REQUEST"], [], ["INVALID_REQUEST"]) == (first, second, third)
    assert ["JSONRPC_VERSION"] == fifth
    assert outcomes[3].HasField("error"), fourth


def test_the_violations_of_a_batch_are_limited(stub: Any) -> None:
    """Beyond `Limits.verdict_characters`, each verdict has only its first violation."""
    result = v1.ToolResult(json=json.dumps({"content": [7] * 400}).encode())
    request = v1.CheckBatchRequest(
        items=[v1.CheckItem(tool_result=result)] * 30, options=v1.CheckOptions(max_violations=400)
    )
    verdicts = [verdict.result.verdict for verdict in stub.CheckBatch(request).outcomes]

    assert (400, False) == (len(verdicts[0].violations), verdicts[0].truncated)
    assert [(1, True)] * 15 == [
        (len(verdict.violations), verdict.truncated) for verdict in verdicts[15:]
    ]


def test_the_error_responses_of_a_batch_are_limited(stub: Any) -> None:
    """They count toward `Limits.verdict_characters` like violations."""
    limit = 1 << 20
    invalid = {"jsonrpc": "2.0", "id": "i" * 200, "method": "server/discover"}
    items = [v1.CheckItem(message=message(invalid))] * 3000
    results = [
        result.result for result in stub.CheckBatch(v1.CheckBatchRequest(items=items)).outcomes
    ]
    with_response = [result for result in results if result.error_response]
    characters = sum(
        len(result.error_response)
        + len(result.verdict.json_rpc_error)
        + result.verdict.violations[0].ByteSize()
        for result in with_response
    )

    assert {False} == {result.verdict.valid for result in results}
    assert results[: len(with_response)] == with_response
    assert limit * 0.8 < characters < limit * 1.1
    assert {(0, 1)} == {
        (len(result.verdict.json_rpc_error), len(result.verdict.violations))
        for result in results[len(with_response) :]
    }


def test_an_empty_batch_has_an_empty_response(stub: Any) -> None:
    """The response has no outcomes."""
    response = stub.CheckBatch(v1.CheckBatchRequest())
    assert v1.CheckBatchResponse(registry_revision=response.registry_revision) == response


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        pytest.param("CheckBatch", {"items": [v1.CheckItem()] * 10_001}, id="items"),
        pytest.param("CheckToolNames", {"names": ["a"] * 10_001}, id="names"),
        pytest.param("CheckTools", {"tools": [target_pb2.InlineTool()] * 10_001}, id="tools"),
        pytest.param(
            "CheckTools", {"tools_list": b"[" + b"0," * 10_000 + b"0]"}, id="tools of a listing"
        ),
    ],
)
def test_the_items_of_a_request_are_limited(stub: Any, method: str, fields: Any) -> None:
    """The limit is `Limits.batch_items`."""
    with pytest.raises(grpc.RpcError) as raised:
        getattr(stub, method)(getattr(v1, f"{method}Request")(**fields))

    info = error_info_of(raised.value)
    assert ("LIMIT_EXCEEDED", "batch_items") == (info.reason, info.metadata["bound"])
