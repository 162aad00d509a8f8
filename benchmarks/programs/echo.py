"""Bare gRPC server: the upper bound for a Python service on the same transport.

It responds to each path with fixed bytes, without parsing, validation or log. A path that
ends in "Stream" gets one response per message. Event loop and options are those of Sidecheck;
it listens on a free port, which it prints, and on a unix socket.

    python benchmarks/programs/echo.py SOCKET PATH=FILE ...
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc

__all__ = ["main"]

# As in sidecheck_server.rpc.server.
_OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", 4 << 20),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
)


class Echo(grpc.GenericRpcHandler):
    """Responds to each path with fixed bytes."""

    def __init__(self, responses: dict[str, bytes]) -> None:
        self._handlers = {
            path: (_streaming if path.endswith("Stream") else _single)(response)
            for path, response in responses.items()
        }

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """Return the handler of a path, or None for an unknown one."""
        return self._handlers.get(handler_call_details.method)


def _single(response: bytes) -> Any:
    async def handle(_request: bytes, _context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
        return response

    return grpc.unary_unary_rpc_method_handler(handle)


def _streaming(response: bytes) -> Any:
    async def handle(
        requests: AsyncIterator[bytes], _context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[bytes]:
        async for _ in requests:
            yield response

    handler: Any = handle
    return grpc.stream_stream_rpc_method_handler(handler)


async def _serve(socket: str, responses: dict[str, bytes]) -> None:
    server: Any = grpc.aio.server(options=_OPTIONS)
    server.add_generic_rpc_handlers((Echo(responses),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    await server.stop(1.0)


def main() -> None:
    """Serve until SIGTERM."""
    socket, *pairs = sys.argv[1:]
    files = (pair.partition("=") for pair in pairs)
    asyncio.run(_serve(socket, {path: Path(file).read_bytes() for path, _, file in files}))


if __name__ == "__main__":
    main()
