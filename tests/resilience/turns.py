"""Measures the turns of the event loop and the total work of the largest requests.

``python -m resilience.turns``, from the folder ``tests``, sends each to a server of its own.
It prints the longest turn of the event loop, the processor time of all turns, and the
processor time of the workers.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc
import psutil
from google.protobuf.message import Message
from resilience.long_requests import LONG_REQUESTS, LongRequest
from resilience.measured_loop import MeasuredServer, run_with_server
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from sidecheck.v1.inference_service_pb2_grpc import InferenceServiceStub
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub

__all__ = ["Turns", "attack_with", "main", "stub_of"]

_TIMEOUT = 600.0


@dataclass(frozen=True, slots=True)
class Turns:
    """Processor time of a request, in seconds."""

    #: The longest turn of the event loop, and all of them.
    longest: float
    loop: float
    #: The worker processes.
    workers: float
    #: Wall-clock time from the request to the response.
    elapsed: float


def stub_of(server: MeasuredServer, method: str) -> Any:
    """Return the multicallable of *method* of any service."""
    for stub in _STUBS:
        call = getattr(stub(server.channel), method, None)
        if call is not None:
            return call
    raise LookupError(method)


_STUBS = (
    ConversionServiceStub,
    InferenceServiceStub,
    ProtocolServiceStub,
    RegistryServiceStub,
    ValidationServiceStub,
)


def attack_with(
    server: MeasuredServer, attack: LongRequest, count: int | None = None
) -> tuple[Turns, Any]:
    """Send the request of *attack* to *server*; return its times, and the response or error.

    *count* is the number of elements; None means that of the largest request.
    """
    count = attack.full if count is None else count
    for method, message in attack.before(count):
        stub_of(server, method)(message, timeout=_TIMEOUT)
    request = attack.request(count)
    call = stub_of(server, attack.method)
    workers = psutil.Process().children()
    before, began = _processor_seconds(workers), time.perf_counter()
    server.loop.reset()
    response: Any
    try:
        response = call(request, timeout=_TIMEOUT)
    except grpc.RpcError as error:
        response = error
    elapsed = time.perf_counter() - began
    loop = server.loop
    turns = Turns(loop.longest, loop.total, _processor_seconds(workers) - before, elapsed)
    return turns, response


def _processor_seconds(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def main() -> int:
    """Run the attacks as the command line says."""
    parser = argparse.ArgumentParser(prog="resilience.turns")
    parser.add_argument("--only", default="", help="attacks with this in their names")
    parser.add_argument("--limit", action="append", default=[], help="NAME=NUMBER, a limit")
    arguments = parser.parse_args()
    limits = {name: int(value) for name, value in (pair.split("=") for pair in arguments.limit)}
    print("longest turn, all turns, workers, elapsed (ms)")
    for name, attack in LONG_REQUESTS.items():
        if arguments.only not in name:
            continue
        turns, response = run_with_server(partial(attack_with, attack=attack), **limits)
        status = "" if isinstance(response, Message) else f" {response.details()[:90]}"
        figures = (turns.longest, turns.loop, turns.workers, turns.elapsed)
        row = " ".join(f"{1000 * figure:8.0f}" for figure in figures)
        print(f"{row} {name}{status}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
