"""A bare gRPC server: what a Python service can reach at best, with the same transport.

It answers every method of any service with as many bytes as were agreed beforehand,
without looking at what came: no message is parsed, made, judged or logged. It runs on the
same event loop as Sidecheck and with the same options.

    python benchmarks/echo.py TCP-PORT-OR-0 SOCKET METHOD=ANSWER.bin ...
"""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import grpc

__all__ = ["OPTIONS"]

OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", 4 << 20),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
)
"""As in `sidecheck_server.rpc.server`."""


class Echo(grpc.GenericRpcHandler):
    """Answers each method with the bytes that it was given for it."""

    def __init__(self, answers: dict[str, bytes]) -> None:
        self._handlers = {path: _answering(answer) for path, answer in answers.items()}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """Return the handler of a method; None for one that is not known."""
        return self._handlers.get(handler_call_details.method)


def _answering(answer: bytes) -> Any:
    async def unary(_request: bytes, _context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
        return answer

    return grpc.unary_unary_rpc_method_handler(unary)


async def _serve(port: str, socket: str, answers: dict[str, bytes]) -> None:
    server = grpc.aio.server(options=OPTIONS)
    server.add_generic_rpc_handlers((Echo(answers),))
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    print(f"127.0.0.1:{bound}", flush=True)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    await server.stop(1.0)


def main() -> None:
    """Serve until SIGTERM."""
    port, socket, *pairs = sys.argv[1:]
    named = (pair.partition("=") for pair in pairs)
    answers = {method: Path(file).read_bytes() for method, _, file in named}
    asyncio.run(_serve(port, socket, answers))


if __name__ == "__main__":
    main()
