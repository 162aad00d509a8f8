"""What one caller can cost the others: little, whatever it sends."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import grpc
import psutil
import pytest
from sidecheck.v1 import registry_service_pb2, target_pb2
from sidecheck.v1.options_pb2 import ValidationOptions
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2 import (
    ValidateBatchRequest,
    ValidateItem,
    ValidateRequest,
)
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.wire import info_of

LONG: Any = {"items": {"anyOf": [*({"const": n, "type": "string"} for n in range(20)), True]}}
"""A thousand items take some ten milliseconds, which is longer than a moment."""


@pytest.fixture
async def stub(shared_server: RunningServer) -> AsyncIterator[Any]:
    async with grpc.aio.insecure_channel(shared_server.address) as channel:
        yield ValidationServiceStub(channel)


def under(schema: Any) -> target_pb2.Target:
    return target_pb2.Target(
        inline_schema=target_pb2.InlineSchema(json=json.dumps(schema).encode())
    )


def subject(payload: Any) -> target_pb2.Subject:
    return target_pb2.Subject(arguments=json.dumps(payload).encode())


def batch(schema: Any, payloads: list[Any], **options: Any) -> ValidateBatchRequest:
    return ValidateBatchRequest(
        target=under(schema),
        options=ValidationOptions(**options),
        items=[ValidateItem(subject=subject(payload)) for payload in payloads],
    )


async def calls_until(stub: Any, beside: asyncio.Task[Any]) -> int:
    """Return how many calls were answered, one after the other, until *beside* was done."""
    request = ValidateRequest(target=under({"type": "integer"}), subject=subject(1))
    calls = 0
    while not beside.done():
        await stub.Validate(request)
        calls += 1
    await beside
    return calls


async def test_a_call_beside_large_batches_is_answered_promptly(
    stub: Any, shared_server: RunningServer
) -> None:
    """They give way every few milliseconds, so that many calls are answered during each."""
    await stub.Validate(ValidateRequest(target=under({"type": "integer"}), subject=subject(1)))
    large = batch({"items": {"type": "integer"}}, [[n] * 30 for n in range(10_000)])
    async with grpc.aio.insecure_channel(shared_server.unix_address) as channel:
        other: Any = ValidationServiceStub(channel)

        async def work() -> None:
            for _ in range(2):
                answered = await other.ValidateBatch(large)
                assert all(one.verdict.valid for one in answered.outcomes)

        calls = await calls_until(stub, asyncio.create_task(work()))

    assert calls > 10


async def test_what_takes_long_does_not_hold_up_the_others(
    stub: Any, shared_server: RunningServer
) -> None:
    """A worker judges it."""
    async with grpc.aio.insecure_channel(shared_server.unix_address) as channel:
        other: Any = ValidationServiceStub(channel)
        request = ValidateRequest(target=under(LONG), subject=subject([1] * 5_000))
        await other.Validate(request)

        async def work() -> None:
            for _ in range(10):
                assert (await other.Validate(request)).verdict.valid

        calls = await calls_until(stub, asyncio.create_task(work()))

    assert calls > 20


async def test_a_batch_has_a_bound_for_items_that_take_long(stub: Any) -> None:
    """Those beyond it are refused; those that take a moment are not."""
    limit = 64
    payloads = [[1] * 1_000] * (limit + 2) + [[1]]
    outcomes = (await stub.ValidateBatch(batch(LONG, payloads))).outcomes
    refused = [info_of(one.refusal) for one in outcomes if one.HasField("refusal")]

    assert [limit, limit + 1] == [at for at, one in enumerate(outcomes) if one.HasField("refusal")]
    assert [{"bound": "offloaded_items", "limit": "64"}] * 2 == [
        dict(one.metadata) for one in refused
    ]


async def test_a_batch_tells_no_more_violations_than_its_bound(stub: Any) -> None:
    """Beyond it, each verdict tells its first."""
    items = {"items": {"type": "integer"}}
    request = batch(items, [["x"] * 500] * 30, max_violations=500)
    outcomes = (await stub.ValidateBatch(request)).outcomes
    counts = [len(one.verdict.violations) for one in outcomes]

    assert ([500] * 20, [1] * 10) == (counts[:20], counts[20:])
    assert all(one.verdict.truncated for one in outcomes[20:])


async def test_the_text_of_a_verdict_is_bounded(stub: Any) -> None:
    """Every violation repeats the way that leads to it."""
    name = "n" * 20_000
    schema = {"additionalProperties": {"items": {"type": "integer"}}}
    request = ValidateRequest(
        target=under(schema),
        subject=subject({name: ["x"] * 500}),
        options=ValidationOptions(max_violations=500),
    )
    got = (await stub.Validate(request)).verdict

    assert (False, True) == (got.valid, got.truncated)
    assert 10 < len(got.violations) < 60
    assert got.ByteSize() < 2 << 20


async def test_a_registration_has_a_bound_for_its_tools(shared_server: RunningServer) -> None:
    """The bound that batches have."""
    tools = [target_pb2.InlineTool(json=b"{}")] * 10_001
    async with grpc.aio.insecure_channel(shared_server.address) as channel:
        registry: Any = RegistryServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await registry.RegisterTools(
                registry_service_pb2.RegisterToolsRequest(server="s", tools=tools)
            )

    assert grpc.StatusCode.RESOURCE_EXHAUSTED is caught.value.code()


async def test_a_worker_that_is_killed_costs_its_own_request_a_refusal(
    server: RunningServer,
) -> None:
    """Nobody else notices, and the next one is judged."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        quick = ValidateRequest(target=under({"type": "integer"}), subject=subject(1))
        long = ValidateRequest(target=under(LONG), subject=subject([1] * 5_000))
        for request in (quick, long):
            await stub.Validate(request)
        workers = [
            child
            for child in psutil.Process(server.process.pid).children()
            if "--multiprocessing-fork" in child.cmdline()
        ]
        for worker in workers:
            worker.suspend()
        waiting = asyncio.ensure_future(stub.Validate(long))
        await asyncio.sleep(0.5)
        beside = await stub.Validate(quick)
        for worker in workers:
            worker.kill()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await waiting
        after = [await stub.Validate(request) for request in (quick, long)]

    assert beside.verdict.valid
    assert grpc.StatusCode.UNAVAILABLE is caught.value.code()
    assert all(one.verdict.valid for one in after)


async def test_a_caller_who_goes_away_stops_its_batch(server: RunningServer) -> None:
    """At its deadline too, between two items."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        long = batch(LONG, [[1] * 5_000] * 60)
        await stub.Validate(ValidateRequest(target=under(LONG), subject=subject([1])))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.ValidateBatch(long, timeout=0.3)
        single = ValidateRequest(target=under(LONG), subject=subject([1] * 5_000))
        assert (await stub.Validate(single)).verdict.valid
        workers = psutil.Process(server.process.pid).children()
        before = _processor_seconds(workers)
        await asyncio.sleep(0.5)
        after = _processor_seconds(workers)

    # The whole batch would take some two seconds of a worker.
    assert grpc.StatusCode.DEADLINE_EXCEEDED is caught.value.code()
    assert after - before < 0.1
    assert '"method": "ValidateBatch"' not in server.log_text()


def _processor_seconds(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


async def test_the_repairs_of_a_batch_are_bounded(stub: Any) -> None:
    """A default can be large, and stand at many places."""
    schema = {"properties": {"a": {"default": "x" * 100_000}}}
    request = batch(schema, [{}] * 100, apply_defaults=True)
    outcomes = (await stub.ValidateBatch(request)).outcomes
    refused = [info_of(one.refusal) for one in outcomes if one.HasField("refusal")]

    assert 35 < len(outcomes) - len(refused) < 45
    assert {"message_bytes"} == {one.metadata["bound"] for one in refused}


async def test_short_deadlines_cost_others_no_worker(
    stub: Any, shared_server: RunningServer
) -> None:
    """A judgement that has begun runs on when its caller leaves."""
    request = ValidateRequest(target=under(LONG), subject=subject([1] * 5_000))
    await stub.Validate(request)
    workers = psutil.Process(shared_server.process.pid).children()
    for _ in range(20):
        with pytest.raises(grpc.aio.AioRpcError):
            await stub.Validate(request, timeout=0.012)
    assert (await stub.Validate(request)).verdict.valid

    assert workers == psutil.Process(shared_server.process.pid).children()
