"""Workers that are killed, stopped and orphaned while the server goes on."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
from grpc_health.v1 import health_pb2
from resilience.workers import (
    call_while_killing,
    call_with_stopped_workers,
    kill_all_repeatedly,
    kill_server,
    wait_until_serving,
)
from sidecheck.v1 import target_pb2
from sidecheck.v1.validation_service_pb2 import ValidateRequest
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.metrics import MeteredServer
from support.running import RunningServer
from support.wire import error_info_of
from support.worker_processes import worker_processes

pytestmark = pytest.mark.slow

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
ALL_SERVICES = ("", "sidecheck.v1.ValidationService", "sidecheck.v1.RegistryService")
SECONDS = {
    "SIDECHECK_LIMITS__COMPILE_SECONDS": "3",
    "SIDECHECK_LIMITS__VALIDATION_SECONDS": "3",
    "SIDECHECK_LIMITS__WORKER_WAIT_SECONDS": "1",
}
WORKER_BYTES = 128 << 20
#: Limits that admit a schema whose compilation needs more than WORKER_BYTES.
LARGE_SCHEMAS = {
    "SIDECHECK_LIMITS__SUBSCHEMAS": "100000",
    "SIDECHECK_LIMITS__SCHEMA_BYTES": str(3 << 20),
}


@pytest.fixture
def quick_server(tmp_path: Path) -> Iterator[RunningServer]:
    """Return a server with two ready workers and short limits for tasks and for waits for one."""
    running = MeteredServer(tmp_path, **SECONDS)
    running.series_when("sidecheck_workers_alive", lambda series: series == {(): 2})
    yield running
    running.close()


async def test_every_call_has_its_answer_while_workers_are_killed(
    quick_server: RunningServer,
) -> None:
    """Each call has one answer; a call whose worker was killed may be retried."""
    statuses = await call_while_killing(quick_server, 300)
    await wait_until_serving(quick_server)
    [later] = await call_with_stopped_workers(quick_server, 1, stopped=0)

    assert 300 == len(statuses)
    assert {"OK", "UNAVAILABLE", "RESOURCE_EXHAUSTED"} >= set(statuses)
    assert "OK" == later


@pytest.mark.parametrize("stopped", [1, 2])
async def test_stopped_workers_are_replaced(quick_server: RunningServer, stopped: int) -> None:
    """Their tasks go to other workers, or fail without another worker."""
    before = set(worker_processes(quick_server.process.pid)[:stopped])
    statuses = await call_with_stopped_workers(quick_server, 12, stopped=stopped)
    event = quick_server.wait_for("worker.died")
    await wait_until_serving(quick_server)
    [later] = await call_with_stopped_workers(quick_server, 1, stopped=0)

    assert ("unresponsive", "SIGKILL") == (event["cause"], event["exit"])
    assert {"OK", "UNAVAILABLE", "RESOURCE_EXHAUSTED"} >= set(statuses)
    assert "OK" == later
    assert before - set(worker_processes(quick_server.process.pid))


@pytest.mark.parametrize("service", ALL_SERVICES)
async def test_health_follows_the_workers(server: RunningServer, service: str) -> None:
    """A watcher sees NOT_SERVING while no worker is alive, and SERVING afterwards."""
    assert [SERVING, *[NOT_SERVING, SERVING] * 3] == await kill_all_repeatedly(
        server, 3, service=service
    )


async def test_the_information_service_serves_without_workers(server: RunningServer) -> None:
    """It needs no worker, so its watcher sees no change."""
    async with grpc.aio.insecure_channel(server.unix_address) as channel:
        from grpc_health.v1.health_pb2_grpc import HealthStub

        stub: Any = HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service="sidecheck.v1.InfoService")
        watch = stub.Watch(request)
        first = (await watch.read()).status
        await kill_all_repeatedly(server, 1)
        second = (await stub.Check(request)).status
        watch.cancel()

    assert (SERVING, SERVING) == (first, second)


async def test_workers_end_with_their_server(quick_server: RunningServer) -> None:
    """Busy workers end too when the server is killed."""
    assert [] == await kill_server(quick_server, 120)


def test_a_task_that_needs_too_much_memory(tmp_path: Path) -> None:
    """It fails with the limit, its worker never exceeds it, and the server goes on."""
    limits = {"SIDECHECK_LIMITS__WORKER_BYTES": str(WORKER_BYTES), **LARGE_SCHEMAS}
    running = RunningServer(tmp_path, **limits)
    parts = [{"properties": {"a": {"enum": [n, str(n)]}}} for n in range(40_000)]
    try:
        with grpc.insecure_channel(running.unix_address) as channel:
            stub: Any = ValidationServiceStub(channel)
            for _ in range(2):
                with pytest.raises(grpc.RpcError) as raised:
                    stub.Validate(_request({"allOf": parts}))
            assert stub.Validate(_request({"properties": {"a": True}})).verdict.valid
        workers = worker_processes(running.process.pid)
        peaks = [_peak_address_space(worker) for worker in workers]
        events = [event["event"] for event in _events(running)]
    finally:
        running.close()

    info = error_info_of(raised.value)
    assert {"bound": "worker_bytes", "limit": str(WORKER_BYTES)} == dict(info.metadata)
    assert WORKER_BYTES * 0.9 < max(peaks) <= WORKER_BYTES
    assert "worker.died" not in events


def _request(schema: Any) -> ValidateRequest:
    return ValidateRequest(
        target=target_pb2.Target(
            inline_schema=target_pb2.InlineSchema(json=json.dumps(schema).encode())
        ),
        subject=target_pb2.Subject(arguments=b"{}"),
    )


def _events(running: RunningServer) -> list[dict[str, Any]]:
    running.log_text()
    return running.events


def _peak_address_space(worker: psutil.Process) -> int:
    """Return the peak address space of *worker*, in bytes."""
    status = Path(f"/proc/{worker.pid}/status").read_text()
    peak = re.search(r"VmPeak:\s+(\d+) kB", status)
    assert peak is not None
    return int(peak[1]) * 1024
