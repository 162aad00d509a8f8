"""Batches of ProtocolService, and what is hostile, alone and in one."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1 import target_pb2, verdict_pb2
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from support.running import RunningServer
from support.wire import info_of, refusal_of

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
    return [found.code for found in verdict.violations]


HOSTILE = [
    pytest.param(b"[" * 10_000, "LIMIT_EXCEEDED", id="deep"),
    pytest.param(b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "LIMIT_EXCEEDED", id="deep objects"),
    pytest.param(b'"' + b"x" * (1 << 20) + b'"', "LIMIT_EXCEEDED", id="large"),
    pytest.param(b"\xff", "PAYLOAD_NOT_JSON", id="no text"),
    pytest.param(b'"\\ud800"', "PAYLOAD_NOT_JSON", id="half a character"),
    pytest.param(b'{"a": 1, "a": 2}', "DUPLICATE_KEY", id="a key twice"),
    pytest.param(b"1e999", "NUMBER_OUT_OF_RANGE", id="a large number"),
]


@pytest.mark.parametrize(("payload", "code"), HOSTILE)
def test_hostile_texts_get_a_verdict_or_a_refusal(stub: Any, payload: bytes, code: str) -> None:
    """The same alone and in a batch, where they cost the others nothing."""
    items = [
        v1.CheckItem(elicitation=v1.Elicitation(params=payload)),
        v1.CheckItem(elicitation_result=v1.ElicitationResult(result=payload)),
        v1.CheckItem(sampling=v1.Sampling(params=payload)),
        v1.CheckItem(tool_result=v1.ToolResult(json=payload)),
        v1.CheckItem(message=message(payload)),
        v1.CheckItem(message=message(PING)),
    ]
    # Two large ones are as much as a message may hold.
    for start in range(0, len(items), 2):
        some = [*items[start : start + 2], v1.CheckItem(message=message(PING))]
        outcomes = stub.CheckBatch(v1.CheckBatchRequest(items=some)).outcomes
        expected = [
            [] if item.message.json == json.dumps(PING).encode() else [code] for item in some
        ]
        assert expected == [told(outcome) for outcome in outcomes]
    alone = []
    for item in items[:-1]:
        name = item.WhichOneof("item")
        assert name is not None
        method = "Check" + "".join(map(str.capitalize, name.split("_")))
        try:
            answer = getattr(stub, method)(
                getattr(v1, f"{method}Request")(**{name: getattr(item, name)})
            ).answer
            alone.append(codes(answer.verdict))
        except grpc.RpcError as error:
            alone.append([refusal_of(error).reason])
    assert [[code]] * len(alone) == alone


def told(outcome: v1.CheckOutcome) -> list[str]:
    """The codes of the verdict, or the reason of the refusal."""
    if outcome.HasField("refusal"):
        return [info_of(outcome.error).reason]
    return codes(outcome.result.verdict)


def test_an_item_of_a_batch_that_cannot_be_checked_costs_the_others_nothing(stub: Any) -> None:
    """Answers keep their order."""
    strange: Any = v1.CheckItem(message=message(PING))
    strange.message.sender = 9
    unknown = target_pb2.Target(schema_digest="sha256:00")
    items = [
        v1.CheckItem(),
        v1.CheckItem(message=message(PING)),
        strange,
        v1.CheckItem(tool_result=v1.ToolResult(json=b'{"content": []}', tool=unknown)),
        v1.CheckItem(message=message({**PING, "jsonrpc": "1.0"})),
    ]
    outcomes = stub.CheckBatch(v1.CheckBatchRequest(items=items)).outcomes

    first, second, third, fourth, fifth = map(told, outcomes)
    assert (["INVALID_REQUEST"], [], ["INVALID_REQUEST"]) == (first, second, third)
    assert ["JSONRPC_VERSION"] == fifth
    assert outcomes[3].HasField("refusal"), fourth


def test_the_violations_of_a_batch_are_bounded(stub: Any) -> None:
    """Once their text is as long as `Limits.verdict_characters`, each verdict tells its first."""
    result = v1.ToolResult(json=json.dumps({"content": [7] * 400}).encode())
    request = v1.CheckBatchRequest(
        items=[v1.CheckItem(tool_result=result)] * 30, options=v1.CheckOptions(max_violations=400)
    )
    verdicts = [one.answer.verdict for one in stub.CheckBatch(request).outcomes]

    assert (400, False) == (len(verdicts[0].violations), verdicts[0].truncated)
    assert [(1, True)] * 15 == [(len(one.violations), one.truncated) for one in verdicts[15:]]


def test_the_replies_of_a_batch_are_bounded(stub: Any) -> None:
    """With the errors in them, they count as what verdicts tell."""
    limit = 1 << 20
    bad = {"jsonrpc": "2.0", "id": "i" * 200, "method": "no/such"}
    items = [v1.CheckItem(message=message(bad))] * 3000
    answers = [one.answer for one in stub.CheckBatch(v1.CheckBatchRequest(items=items)).outcomes]
    replied = [one for one in answers if one.reply]
    told = sum(
        len(one.reply) + len(one.verdict.json_rpc_error) + one.verdict.violations[0].ByteSize()
        for one in replied
    )

    assert {False} == {one.verdict.valid for one in answers}
    assert answers[: len(replied)] == replied
    assert limit * 0.8 < told < limit * 1.1
    assert {(0, 1)} == {
        (len(one.verdict.json_rpc_error), len(one.verdict.violations))
        for one in answers[len(replied) :]
    }


def test_an_empty_batch_has_an_empty_answer(stub: Any) -> None:
    """There is nothing to say."""
    assert v1.CheckBatchResponse() == stub.CheckBatch(v1.CheckBatchRequest())


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        pytest.param("CheckBatch", {"items": [v1.CheckItem()] * 10_001}, id="items"),
        pytest.param("CheckToolNames", {"names": ["a"] * 10_001}, id="names"),
        pytest.param("CheckTools", {"tools": [target_pb2.InlineTool()] * 10_001}, id="tools"),
        pytest.param(
            "CheckTools", {"listing": b"[" + b"0," * 10_000 + b"0]"}, id="tools of a listing"
        ),
    ],
)
def test_only_so_many_are_checked_at_once(stub: Any, method: str, fields: Any) -> None:
    """As many as `Limits.batch_items` says."""
    with pytest.raises(grpc.RpcError) as caught:
        getattr(stub, method)(getattr(v1, f"{method}Request")(**fields))

    info = refusal_of(caught.value)
    assert ("LIMIT_EXCEEDED", "batch_items") == (info.reason, info.metadata["bound"])
