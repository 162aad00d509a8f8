"""Limits of tool calls and results, with a real server."""

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
from support.calling import (
    ADD,
    PING,
    codes,
    inline_target,
    params,
    registered_target,
    result,
    validate,
)
from support.running import RunningServer
from support.wire import error_info_of, info_of

LARGE = {"note": "n" * (1 << 20)}


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(shared_server.address, options) as channel:
        yield ValidationServiceStub(channel)


def test_large_subjects_are_validated_by_workers(stub: Any) -> None:
    """Verdicts do not depend on the size of the payload."""
    note = "n" * 500_000
    results = [
        validate(stub, inline_target(ADD), params("add", {"a": 1, "note": note})),
        validate(stub, inline_target(ADD), params("add", {"a": "x", "note": note})),
        validate(stub, inline_target(ADD), result({"sum": 1, "note": note[:200_000]})),
        validate(stub, inline_target(ADD), result({"sum": "x", "note": note[:200_000]})),
        validate(stub, inline_target(ADD), result({"sum": 1}, _meta={"note": note})),
    ]

    assert [
        [],
        [("/arguments/a", "TYPE")],
        [],
        [("/structuredContent/sum", "TYPE")],
        [],
    ] == [codes(verdict) for verdict in results]


@pytest.mark.parametrize(
    ("target", "subject"),
    [
        pytest.param(registered_target(), params("add", LARGE), id="params that name the tool"),
        pytest.param(inline_target(ADD), params("add", LARGE), id="params"),
        pytest.param(inline_target(ADD), result(LARGE), id="result"),
    ],
)
def test_too_large_subjects_are_rejected(
    stub: Any, target: target_pb2.Target, subject: target_pb2.Subject
) -> None:
    """The error names the limit."""
    with pytest.raises(grpc.RpcError) as raised:
        validate(stub, target, subject)

    assert "payload_bytes" == error_info_of(raised.value).metadata["bound"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'{"a":' * 5000, id="cut off"),
        pytest.param(b"[" * 5000 + b"]" * 5000 + b"}", id="closed again"),
    ],
)
def test_too_deep_subjects_are_rejected(stub: Any, text: bytes) -> None:
    """The depth limit of arguments applies to call params."""
    text = b'{"name": "add", "arguments": ' + text
    for target in (registered_target(), inline_target(ADD)):
        with pytest.raises(grpc.RpcError) as raised:
            validate(stub, target, target_pb2.Subject(call_params=text))

        assert "LIMIT_EXCEEDED" == error_info_of(raised.value).reason


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(params("ping", {"note": "n" * 2000}), id="params"),
        pytest.param(result(isError=True, _meta={"note": "n" * 2000}), id="result"),
    ],
)
def test_offloaded_items_of_a_batch_are_limited(
    tmp_path: Path, subject: target_pb2.Subject
) -> None:
    """Items beyond the limit have an error each."""
    running = RunningServer(
        tmp_path, SIDECHECK_LIMITS__OFFLOADED_ITEMS="3", SIDECHECK_LIMITS__INLINE_BYTES="1000"
    )
    target = inline_target(PING)
    try:
        with grpc.insecure_channel(running.address) as channel:
            stub: Any = ValidationServiceStub(channel)
            items = [v1.ValidateItem(subject=subject)] * 6
            request = v1.ValidateBatchRequest(target=target, items=items)
            outcomes = stub.ValidateBatch(request, timeout=300).outcomes
    finally:
        running.close()
    rejected = [info_of(entry.error) for entry in outcomes if entry.HasField("error")]

    assert {"offloaded_items"} == {entry.metadata["bound"] for entry in rejected}
    assert outcomes[0].verdict.valid


def test_the_tool_results_of_a_batch_are_limited(stub: Any) -> None:
    """Most of thousands of invalid items have short call results."""
    call = {"name": "add", "arguments": {"n" * 250: 1}}
    item = v1.ValidateItem(subject=target_pb2.Subject(call_params=json.dumps(call).encode()))
    request = v1.ValidateBatchRequest(
        target=inline_target(ADD),
        items=[item] * 10_000,
        options=ValidationOptions(protocol_version="2025-06-18"),
    )
    response = stub.ValidateBatch(request, timeout=300)

    assert [False] * 10_000 == [outcome.verdict.valid for outcome in response.outcomes]
    assert len(response.outcomes[0].verdict.call_tool_result) > 500
    assert max(len(entry.verdict.call_tool_result) for entry in response.outcomes[-5000:]) < 200
