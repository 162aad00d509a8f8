"""Bounds of whole calls and results of tools, through a real server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as v1
from sidecheck.v1.options_pb2 import ValidationOptions
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.calling import ADD, PING, codes, named, params, result, sent, validate
from support.running import RunningServer
from support.wire import info_of, refusal_of

LARGE = {"note": "n" * (1 << 20)}


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(shared_server.address, options) as channel:
        yield ValidationServiceStub(channel)


def test_what_takes_long_is_judged_by_workers(stub: Any) -> None:
    """The same, whether the payload is small or large."""
    note = "n" * 500_000
    got = [
        validate(stub, sent(ADD), params("add", {"a": 1, "note": note})),
        validate(stub, sent(ADD), params("add", {"a": "x", "note": note})),
        validate(stub, sent(ADD), result({"sum": 1, "note": note[:200_000]})),
        validate(stub, sent(ADD), result({"sum": "x", "note": note[:200_000]})),
        validate(stub, sent(ADD), result({"sum": 1}, _meta={"note": note})),
    ]

    assert [
        [],
        [("/arguments/a", "TYPE")],
        [],
        [("/structuredContent/sum", "TYPE")],
        [],
    ] == [codes(one) for one in got]


@pytest.mark.parametrize(
    ("target", "subject"),
    [
        pytest.param(named(), params("add", LARGE), id="params that name the tool"),
        pytest.param(sent(ADD), params("add", LARGE), id="params"),
        pytest.param(sent(ADD), result(LARGE), id="result"),
    ],
)
def test_what_is_too_large_is_refused(
    stub: Any, target: target_pb2.Target, subject: target_pb2.Subject
) -> None:
    """With the bound named."""
    with pytest.raises(grpc.RpcError) as caught:
        validate(stub, target, subject)

    assert "payload_bytes" == refusal_of(caught.value).metadata["bound"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'{"a":' * 5000, id="cut off"),
        pytest.param(b"[" * 5000 + b"]" * 5000 + b"}", id="closed again"),
    ],
)
def test_what_nests_too_deep_is_refused(stub: Any, text: bytes) -> None:
    """As arguments alone would be."""
    text = b'{"name": "add", "arguments": ' + text
    for target in (named(), sent(ADD)):
        with pytest.raises(grpc.RpcError) as caught:
            validate(stub, target, target_pb2.Subject(call_params=text))

        assert "LIMIT_EXCEEDED" == refusal_of(caught.value).reason


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(params("ping", {"note": "n" * 2000}), id="params"),
        pytest.param(result(isError=True, _meta={"note": "n" * 2000}), id="result"),
    ],
)
def test_few_items_of_a_batch_may_take_long(tmp_path: Path, subject: target_pb2.Subject) -> None:
    """As with arguments alone; the others are refused by themselves."""
    running = RunningServer(
        tmp_path, SIDECHECK_LIMITS__OFFLOADED_ITEMS="3", SIDECHECK_LIMITS__INLINE_BYTES="1000"
    )
    target = sent(PING)
    try:
        with grpc.insecure_channel(running.address) as channel:
            stub: Any = ValidationServiceStub(channel)
            items = [v1.ValidateItem(subject=subject)] * 6
            request = v1.ValidateBatchRequest(target=target, items=items)
            outcomes = stub.ValidateBatch(request, timeout=300).outcomes
    finally:
        running.close()
    refused = [info_of(one.refusal) for one in outcomes if one.HasField("refusal")]

    assert {"offloaded_items"} == {one.metadata["bound"] for one in refused}
    assert outcomes[0].verdict.valid


def test_the_replies_of_a_batch_are_bounded(stub: Any) -> None:
    """Of thousands of invalid items most get short ones."""
    call = {"name": "add", "arguments": {"n" * 250: 1}}
    item = v1.ValidateItem(subject=target_pb2.Subject(call_params=json.dumps(call).encode()))
    request = v1.ValidateBatchRequest(
        target=sent(ADD),
        items=[item] * 10_000,
        options=ValidationOptions(protocol_version="2025-06-18"),
    )
    response = stub.ValidateBatch(request, timeout=300)

    assert [False] * 10_000 == [outcome.verdict.valid for outcome in response.outcomes]
    assert len(response.outcomes[0].verdict.call_tool_result) > 500
    assert max(len(one.verdict.call_tool_result) for one in response.outcomes[-5000:]) < 200
