"""Attack on the caches: distinct schemas with a large memory for the size of their text."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count, cycle, islice

import grpc
import psutil
from sidecheck.v1 import options_pb2, target_pb2, validation_service_pb2
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.schema_families import FAMILIES

__all__ = ["resident_bytes", "send_schemas"]

_LONGEST = 16 << 10
"""Maximum size of a schema, in bytes."""

_CALLERS = 4
_TEXT = "ab" * 700
_PAYLOADS = tuple(
    json.dumps(payload).encode()
    for payload in ({f"p{i}": _TEXT for i in range(60)}, _TEXT, [[1]], {"k": "q"})
)


def send_schemas(server: RunningServer, amount: int, *, patterns: bool, first: int = 0) -> int:
    """Send *amount* distinct inline schemas, each with payloads; return their total bytes.

    Calls whose *first* differ by more than *amount* send distinct schemas.

    *patterns* selects the families with patterns, or the families without. The report of
    unknown arguments requires the complete engine, even for a valid payload.
    """
    with grpc.insecure_channel(server.address) as channel:
        batch = ValidationServiceStub(channel).ValidateBatch

        def send(schema: bytes) -> int:
            items = [
                validation_service_pb2.ValidateItem(
                    target=target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=schema)),
                    subject=target_pb2.Subject(arguments=payload),
                    options=options_pb2.ValidationOptions(
                        unknown_arguments=options_pb2.UNKNOWN_ARGUMENTS_REPORT
                    ),
                )
                for payload in _PAYLOADS
            ]
            response = batch(validation_service_pb2.ValidateBatchRequest(items=items), timeout=300)
            assert len(_PAYLOADS) == len(response.outcomes)
            return len(schema)

        with ThreadPoolExecutor(_CALLERS) as callers:
            return sum(callers.map(send, islice(_schemas(patterns=patterns, first=first), amount)))


def resident_bytes(server: RunningServer) -> int:
    """Return the resident memory of the server's own process, without its workers."""
    return psutil.Process(server.process.pid).memory_info().rss


def _schemas(*, patterns: bool, first: int) -> Iterator[bytes]:
    """Yield distinct schemas, of each family in turn."""
    for number, family in zip(count(1000 + 10 * first), cycle(FAMILIES.values()), strict=False):
        schema = json.dumps(family(number)).encode()
        if len(schema) <= _LONGEST and (b'"pattern' in schema) is patterns:
            yield schema
