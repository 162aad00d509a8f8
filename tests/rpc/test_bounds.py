"""Limits on the resources that calls of one client take from others."""

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

SLOW_SCHEMA: Any = {
    "items": {"anyOf": [*({"const": n, "type": "string"} for n in range(20)), True]}
}
"""A thousand items take about ten milliseconds, too long to validate inline."""


@pytest.fixture
async def stub(shared_server: RunningServer) -> AsyncIterator[Any]:
    async with grpc.aio.insecure_channel(shared_server.address) as channel:
        yield ValidationServiceStub(channel)


def inline_schema(schema: Any) -> target_pb2.Target:
    return target_pb2.Target(
        inline_schema=target_pb2.InlineSchema(json=json.dumps(schema).encode())
    )


def subject(payload: Any) -> target_pb2.Subject:
    return target_pb2.Subject(arguments=json.dumps(payload).encode())


def batch(schema: Any, payloads: list[Any], **options: Any) -> ValidateBatchRequest:
    return ValidateBatchRequest(
        target=inline_schema(schema),
        options=ValidationOptions(**options),
        items=[ValidateItem(subject=subject(payload)) for payload in payloads],
    )


async def calls_until(stub: Any, task: asyncio.Task[Any]) -> int:
    """Return the number of sequential calls that complete before *task* is done."""
    request = ValidateRequest(target=inline_schema({"type": "integer"}), subject=subject(1))
    calls = 0
    while not task.done():
        await stub.Validate(request)
        calls += 1
    await task
    return calls


async def test_calls_during_large_batches_are_prompt(
    stub: Any, shared_server: RunningServer
) -> None:
    """Batches yield every few milliseconds, so other calls complete in between.

    If they did not, one or two calls would complete in the time of each batch.
    """
    batches = 6
    await stub.Validate(
        ValidateRequest(target=inline_schema({"type": "integer"}), subject=subject(1))
    )
    large = batch({"items": {"type": "integer"}}, [[n] * 30 for n in range(10_000)])
    async with grpc.aio.insecure_channel(shared_server.unix_address) as channel:
        second_stub: Any = ValidationServiceStub(channel)

        async def run_batches() -> None:
            for _ in range(batches):
                response = await second_stub.ValidateBatch(large)
                assert all(outcome.verdict.valid for outcome in response.outcomes)

        calls = await calls_until(stub, asyncio.create_task(run_batches()))

    assert calls > 2 * batches


async def test_offloaded_calls_do_not_delay_others(stub: Any, shared_server: RunningServer) -> None:
    """Slow payloads are validated by a worker."""
    async with grpc.aio.insecure_channel(shared_server.unix_address) as channel:
        second_stub: Any = ValidationServiceStub(channel)
        request = ValidateRequest(target=inline_schema(SLOW_SCHEMA), subject=subject([1] * 5_000))
        await second_stub.Validate(request)

        async def run_slow_calls() -> None:
            for _ in range(10):
                assert (await second_stub.Validate(request)).verdict.valid

        calls = await calls_until(stub, asyncio.create_task(run_slow_calls()))

    assert calls > 20


async def test_offloaded_items_of_a_batch_are_limited(stub: Any) -> None:
    """Items beyond the limit are rejected, except those that are validated inline."""
    limit = 64
    payloads = [[1] * 1_000] * (limit + 2) + [[1]]
    outcomes = (await stub.ValidateBatch(batch(SLOW_SCHEMA, payloads))).outcomes
    rejected = [info_of(entry.error) for entry in outcomes if entry.HasField("error")]

    assert [limit, limit + 1] == [
        at for at, entry in enumerate(outcomes) if entry.HasField("error")
    ]
    assert [{"bound": "offloaded_items", "limit": "64"}] * 2 == [
        dict(entry.metadata) for entry in rejected
    ]


async def test_the_violations_of_a_batch_are_limited(stub: Any) -> None:
    """Beyond the limit, each verdict has only its first violation."""
    items = {"items": {"type": "integer"}}
    request = batch(items, [["x"] * 500] * 30, max_violations=500)
    outcomes = (await stub.ValidateBatch(request)).outcomes
    counts = [len(outcome.verdict.violations) for outcome in outcomes]

    assert ([500] * 20, [1] * 10) == (counts[:20], counts[20:])
    assert all(outcome.verdict.truncated for outcome in outcomes[20:])


async def test_the_text_of_a_verdict_is_bounded(stub: Any) -> None:
    """Every violation repeats its location, which may be long."""
    name = "n" * 20_000
    schema = {"additionalProperties": {"items": {"type": "integer"}}}
    request = ValidateRequest(
        target=inline_schema(schema),
        subject=subject({name: ["x"] * 500}),
        options=ValidationOptions(max_violations=500),
    )
    verdict = (await stub.Validate(request)).verdict

    assert (False, True) == (verdict.valid, verdict.truncated)
    assert 10 < len(verdict.violations) < 60
    assert verdict.ByteSize() < 2 << 20


async def test_the_tools_of_a_registration_are_limited(shared_server: RunningServer) -> None:
    """The limit is that of batches."""
    tools = [target_pb2.InlineTool(json=b"{}")] * 10_001
    async with grpc.aio.insecure_channel(shared_server.address) as channel:
        registry: Any = RegistryServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await registry.RegisterTools(
                registry_service_pb2.RegisterToolsRequest(server="s", tools=tools)
            )

    assert grpc.StatusCode.RESOURCE_EXHAUSTED is raised.value.code()


async def test_a_killed_worker_fails_only_its_request(
    server: RunningServer,
) -> None:
    """Other requests succeed, during and after the crash."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        quick = ValidateRequest(target=inline_schema({"type": "integer"}), subject=subject(1))
        long = ValidateRequest(target=inline_schema(SLOW_SCHEMA), subject=subject([1] * 5_000))
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
        concurrent = await stub.Validate(quick)
        for worker in workers:
            worker.kill()
        outcome: Any = (await asyncio.gather(waiting, return_exceptions=True))[0]
        after = [await stub.Validate(request) for request in (quick, long)]

    assert concurrent.verdict.valid
    # A task that its worker had not received is given to another.
    if isinstance(outcome, grpc.aio.AioRpcError):
        assert grpc.StatusCode.UNAVAILABLE is outcome.code()
    else:
        assert outcome.verdict.valid
    assert all(response.verdict.valid for response in after)


async def test_an_expired_deadline_stops_its_batch(server: RunningServer) -> None:
    """The batch stops between two items."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        long = batch(SLOW_SCHEMA, [[1] * 5_000] * 60)
        await stub.Validate(
            ValidateRequest(target=inline_schema(SLOW_SCHEMA), subject=subject([1]))
        )
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stub.ValidateBatch(long, timeout=0.3)
        single = ValidateRequest(target=inline_schema(SLOW_SCHEMA), subject=subject([1] * 5_000))
        assert (await stub.Validate(single)).verdict.valid
        workers = psutil.Process(server.process.pid).children()
        before = _processor_seconds(workers)
        await asyncio.sleep(0.5)
        after = _processor_seconds(workers)

    # The whole batch would take about two seconds of a worker.
    assert grpc.StatusCode.DEADLINE_EXCEEDED is raised.value.code()
    assert after - before < 0.1
    assert '"method": "ValidateBatch"' not in server.log_text()


def _processor_seconds(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


async def test_the_repairs_of_a_batch_are_bounded(stub: Any) -> None:
    """A default may be large and apply at many locations."""
    schema = {"properties": {"a": {"default": "x" * 100_000}}}
    request = batch(schema, [{}] * 100, apply_defaults=True)
    outcomes = (await stub.ValidateBatch(request)).outcomes
    rejected = [info_of(entry.error) for entry in outcomes if entry.HasField("error")]

    assert 35 < len(outcomes) - len(rejected) < 45
    assert {"message_bytes"} == {entry.metadata["bound"] for entry in rejected}


async def test_expired_deadlines_do_not_replace_workers(
    stub: Any, shared_server: RunningServer
) -> None:
    """A validation that has begun continues after its caller leaves."""
    request = ValidateRequest(target=inline_schema(SLOW_SCHEMA), subject=subject([1] * 5_000))
    await stub.Validate(request)
    workers = psutil.Process(shared_server.process.pid).children()
    for _ in range(20):
        with pytest.raises(grpc.aio.AioRpcError):
            await stub.Validate(request, timeout=0.012)
    assert (await stub.Validate(request)).verdict.valid

    assert workers == psutil.Process(shared_server.process.pid).children()
