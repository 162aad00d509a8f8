"""Attacks on the worker processes of a server: killed, stopped, orphaned."""

import asyncio
import json
import random
from collections.abc import Iterator
from itertools import count
from typing import Any

import grpc
import psutil
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2_grpc import HealthStub
from sidecheck.v1 import target_pb2
from sidecheck.v1.validation_service_pb2 import ValidateRequest
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.worker_processes import kill, worker_processes

__all__ = [
    "call_while_killing",
    "call_with_stopped_workers",
    "kill_all_repeatedly",
    "kill_server",
    "wait_until_serving",
]

_DEADLINE_SECONDS = 120.0
_SLOW_SCHEMA = {"items": {"anyOf": [*({"const": n, "type": "string"} for n in range(20)), True]}}
"""A thousand items take about ten milliseconds, so that a worker validates them."""

_numbers = count()


async def call_while_killing(
    server: RunningServer, calls: int, *, concurrent: int = 24, seed: int = 0
) -> list[str]:
    """Make *calls*, *concurrent* at a time, and kill workers after every 1 to 24 answers.

    Half of the calls compile a schema, half validate a payload in a worker.
    """
    answers: asyncio.Queue[str] = asyncio.Queue()
    async with grpc.aio.insecure_channel(server.unix_address) as channel:
        stub: Any = ValidationServiceStub(channel)
        killer = asyncio.create_task(_kill_some(server, answers, random.Random(seed)))
        remaining = iter([_compilation(), _validation()][n % 2] for n in range(calls))
        lanes = (_call_each(stub, remaining, answers) for _ in range(concurrent))
        statuses = [status for lane in await asyncio.gather(*lanes) for status in lane]
        killer.cancel()
    return statuses


async def call_with_stopped_workers(
    server: RunningServer, calls: int, *, stopped: int
) -> list[str]:
    """Stop some workers with SIGSTOP, and make *calls* at once."""
    for worker in worker_processes(server.process.pid)[:stopped]:
        worker.suspend()
    async with grpc.aio.insecure_channel(server.unix_address) as channel:
        stub: Any = ValidationServiceStub(channel)
        return await asyncio.gather(*(_call(stub, _compilation()) for _ in range(calls)))


async def kill_all_repeatedly(
    server: RunningServer, rounds: int, *, service: str = ""
) -> list[Any]:
    """Kill all workers *rounds* times; return the statuses of a health watch of *service*.

    The last status is the first SERVING after the last kill.
    """
    statuses: list[Any] = []
    serving = health_pb2.HealthCheckResponse.SERVING
    async with grpc.aio.insecure_channel(server.unix_address) as channel:
        stub: Any = HealthStub(channel)
        watch = stub.Watch(
            health_pb2.HealthCheckRequest(service=service), timeout=_DEADLINE_SECONDS
        )
        statuses.append((await watch.read()).status)
        for _ in range(rounds):
            kill(await _all_workers(server))
            while statuses[-1] == serving:
                statuses.append((await watch.read()).status)
            while statuses[-1] != serving:
                statuses.append((await watch.read()).status)
        watch.cancel()
    return statuses


async def wait_until_serving(server: RunningServer) -> None:
    """Return when the health of *server* is SERVING."""
    async with grpc.aio.insecure_channel(server.unix_address) as channel:
        stub: Any = HealthStub(channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest(), timeout=_DEADLINE_SECONDS)
        while (await watch.read()).status != health_pb2.HealthCheckResponse.SERVING:
            pass
        watch.cancel()


async def kill_server(server: RunningServer, seconds: float) -> list[psutil.Process]:
    """Kill the server while one worker is busy; return the workers that outlive it.

    The workers have *seconds* to end.
    """
    workers = await _all_workers(server)
    async with grpc.aio.insecure_channel(server.unix_address) as channel:
        stub: Any = ValidationServiceStub(channel)
        busy = asyncio.create_task(_call(stub, _long_compilation()))
        await asyncio.sleep(0.5)
        server.process.kill()
        await busy
    _, alive = await asyncio.to_thread(psutil.wait_procs, workers, seconds)
    kill(alive)
    return alive


async def _kill_some(
    server: RunningServer, answers: asyncio.Queue[str], choice: random.Random
) -> None:
    """Kill some workers again and again, after every 1 to 24 answers."""
    while True:
        for _ in range(choice.randint(1, 24)):
            await answers.get()
        workers = worker_processes(server.process.pid)
        if workers:
            kill(choice.sample(workers, choice.randint(1, len(workers))))


async def _all_workers(server: RunningServer) -> list[psutil.Process]:
    """Return the workers of *server* when there are two."""
    while len(workers := worker_processes(server.process.pid)) < 2:  # noqa: ASYNC110  (it is another process)
        await asyncio.sleep(0.02)
    return workers


async def _call_each(
    stub: Any, requests: Iterator[ValidateRequest], answers: asyncio.Queue[str]
) -> list[str]:
    statuses = []
    for request in requests:
        statuses.append(await _call(stub, request))
        answers.put_nowait(statuses[-1])
    return statuses


async def _call(stub: Any, request: ValidateRequest) -> str:
    """Return the status of a call; it is DEADLINE_EXCEEDED if the server does not answer."""
    try:
        await stub.Validate(request, timeout=_DEADLINE_SECONDS)
    except grpc.aio.AioRpcError as error:
        return str(error.code().name)
    return "OK"


def _compilation() -> ValidateRequest:
    """Return a request with a schema that the server has not compiled."""
    number = next(_numbers)
    return _request({"properties": {f"p{n}": {"minimum": number} for n in range(20)}}, {})


def _long_compilation() -> ValidateRequest:
    """Return a request whose schema takes seconds to compile."""
    number = next(_numbers)
    parts = [{"properties": {"a": {"enum": [number, n, str(n)]}}} for n in range(4900)]
    return _request({"allOf": parts}, {})


def _validation() -> ValidateRequest:
    return _request(_SLOW_SCHEMA, [1] * 2_000)


def _request(schema: Any, payload: Any) -> ValidateRequest:
    return ValidateRequest(
        target=target_pb2.Target(
            inline_schema=target_pb2.InlineSchema(json=json.dumps(schema).encode())
        ),
        subject=target_pb2.Subject(arguments=json.dumps(payload).encode()),
    )
