"""Attacks on the services: expensive requests within the limits, and lost processes.

Each takes a running server and its duration in seconds, and returns counts of observations.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import grpc
from resilience.caches import send_schemas
from resilience.long_requests import LONG_REQUESTS, LongRequest
from resilience.registry import fill_registry
from resilience.scene import Attack
from resilience.workers import call_while_killing, call_with_stopped_workers
from sidecheck.v1 import info_service_pb2
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceStub
from sidecheck.v1.info_service_pb2_grpc import InfoServiceStub
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer

__all__ = ["SERVICE_ATTACKS"]

_STUBS = (
    ConversionServiceStub,
    InferenceServiceStub,
    ProtocolServiceStub,
    RegistryServiceStub,
    ValidationServiceStub,
)
_FULL_SECONDS = 5.0
"""Minimum duration of an attack whose requests have the maximum size."""

_QUICK_WORKERS = {
    "SIDECHECK_LIMITS__COMPILE_SECONDS": "3",
    "SIDECHECK_LIMITS__VALIDATION_SECONDS": "3",
}


def _send_new_schemas(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Validate against distinct inline schemas of a large memory."""
    end = time.monotonic() + seconds
    schemas = sent = 0
    while time.monotonic() < end:
        sent += send_schemas(server, 50, patterns=schemas % 100 == 0, first=schemas)
        schemas += 50
    return {"schemas": schemas, "bytes": sent}


def _register_much(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Register tools of 250 KB, each under another name."""
    end = time.monotonic() + seconds
    outcomes: Counter[str] = Counter()
    turn = 0
    while time.monotonic() < end:
        outcomes += fill_registry(server.address, 20, 250_000, prefix=f"turn-{turn}")
        turn += 1
    return outcomes


def _send_long_requests(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Send the largest requests of every kind within the limits."""
    end = time.monotonic() + seconds
    statuses: Counter[str] = Counter()
    with grpc.insecure_channel(server.address) as channel:
        for request in LONG_REQUESTS.values():
            share = 1 if seconds >= _FULL_SECONDS else 50
            statuses[_send(channel, request, max(1, request.full // share))] += 1
            if time.monotonic() > end and seconds < _FULL_SECONDS:
                break
    return statuses


def _send(channel: grpc.Channel, request: LongRequest, count: int) -> str:
    try:
        for method, message in request.before(count):
            _method(channel, method)(message, timeout=300)
        _method(channel, request.method)(request.request(count), timeout=300)
    except grpc.RpcError as error:
        call: Any = error
        return str(call.code().name)
    return "OK"


def _method(channel: grpc.Channel, name: str) -> Any:
    return next(method for stub in _STUBS if (method := getattr(stub(channel), name, None)))


def _kill_workers(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Kill workers at random moments while calls wait for them."""
    return Counter(asyncio.run(call_while_killing(server, int(100 * seconds))))


def _stop_workers(server: RunningServer, _seconds: float) -> Mapping[str, int]:
    """Stop all workers with SIGSTOP, and make calls that need a worker."""
    return Counter(asyncio.run(call_with_stopped_workers(server, 20, stopped=2)))


def _leave_log_unread(server: RunningServer, seconds: float) -> Mapping[str, int]:
    """Make calls that are logged while the log is not read."""
    end = time.monotonic() + seconds
    calls = 0
    with server.log_unread(), grpc.insecure_channel(server.address) as channel:
        stub: Any = InfoServiceStub(channel)
        while time.monotonic() < end:
            stub.GetServerInfo(info_service_pb2.GetServerInfoRequest(), timeout=300)
            calls += 1
    return {"calls": calls}


SERVICE_ATTACKS = (
    Attack("new schemas", "each is compiled, and kept in a cache", _send_new_schemas),
    Attack("large registrations", "tools stay until they are deleted", _register_much),
    Attack("largest requests", "one request may do the work of thousands", _send_long_requests),
    Attack("killed workers", "calls wait for them", _kill_workers, _QUICK_WORKERS),
    Attack("stopped workers", "they neither answer nor end", _stop_workers, _QUICK_WORKERS),
    Attack(
        "unread log",
        "a full pipe blocks its writer",
        _leave_log_unread,
        {"SIDECHECK_LOG_LEVEL": "debug"},
    ),
)
