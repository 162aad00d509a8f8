"""Load generator with gRPC's Python client, for machines without h2load.

Prints "ready", waits for a line, makes the calls, and prints as JSON the size of all responses
in bytes and the latency of each call in milliseconds.

    python benchmarks/programs/load_client.py ADDRESS PATH BODY-FILE CALLS IN-FLIGHT
"""

import asyncio
import json
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc

__all__ = ["main"]

_RETRIES = {
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.01s",
                "maxBackoff": "1s",
                "backoffMultiplier": 4,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}
"""Retry policy of Sidecheck's clients; a server limits the calls of a connection."""


async def _call(address: str, path: str, messages: list[bytes], calls: int, in_flight: int) -> None:
    options = [
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        ("grpc.service_config", json.dumps(_RETRIES)),
    ]
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        await channel.channel_ready()
        print("ready", flush=True)
        sys.stdin.readline()
        remaining = iter(range(calls))
        workers = (_worker(channel, path, messages, remaining) for _ in range(in_flight))
        results = await asyncio.gather(*workers)
    received = sum(size for size, _ in results)
    milliseconds = [round(elapsed, 3) for _, times in results for elapsed in times]
    print(json.dumps({"bytes": received, "milliseconds": milliseconds}))


async def _worker(
    channel: Any, path: str, messages: list[bytes], remaining: Iterator[int]
) -> tuple[int, list[float]]:
    unary, stream = channel.unary_unary(path), channel.stream_stream(path)
    received, milliseconds = 0, []
    for _ in remaining:
        started = time.perf_counter()
        if len(messages) > 1:
            async for response in stream(iter(messages)):
                received += len(response)
        else:
            received += len(await unary(messages[0]))
        milliseconds.append(1000 * (time.perf_counter() - started))
    return received, milliseconds


def _messages(body: bytes) -> Iterator[bytes]:
    offset = 0
    while offset < len(body):
        (size,) = struct.unpack_from(">I", body, offset + 1)
        yield body[offset + 5 : offset + 5 + size]
        offset += 5 + size


def main() -> None:
    """Make the calls."""
    address, path, body, calls, in_flight = sys.argv[1:]
    messages = list(_messages(Path(body).read_bytes()))
    asyncio.run(_call(address, path, messages, int(calls), int(in_flight)))


if __name__ == "__main__":
    main()
