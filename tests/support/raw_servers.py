"""Servers that answer with given bytes: gRPC messages, HTTP/2 frames, or other bytes."""

import socket
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, TypeAlias

import grpc
import grpc.aio

__all__ = [
    "Responder",
    "go_away",
    "http_answer",
    "reset",
    "serving_bytes",
    "serving_frames",
    "serving_messages",
]

#: Returns the serialized responses to one message of a call, given its path, the message and
#: the context; None ends the call.
Responder: TypeAlias = Callable[[str, bytes, Any], Awaitable[list[bytes] | None]]

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# Types and flags of frames (RFC 9113, section 6).
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0x0, 0x1, 0x3, 0x4, 0x6, 0x7
END_STREAM = ACK = 0x1
END_HEADERS = 0x4


@asynccontextmanager
async def serving_messages(respond: Responder) -> AsyncIterator[str]:
    """Serve all methods with the messages that *respond* returns, and yield the address.

    Every method is served as a stream, which is the same on the wire, so that there may be
    no response as well.
    """

    class Handler(grpc.GenericRpcHandler):
        def service(self, details: Any) -> Any:
            async def handle(requests: Any, context: Any) -> AsyncIterator[bytes]:
                async for request in requests:
                    responses = await respond(details.method, request, context)
                    if responses is None:
                        return
                    for response in responses:
                        yield response

            return grpc.stream_stream_rpc_method_handler(handle)

    server = grpc.aio.server()
    server.add_generic_rpc_handlers([Handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@contextmanager
def serving_frames(answer: Callable[[int], bytes]) -> Iterator[str]:
    """Answer each complete request with the frames that *answer* returns for its stream."""
    with serving(lambda connection: _speak_http2(connection, answer)) as address:
        yield address


@contextmanager
def serving_bytes(answer: bytes) -> Iterator[str]:
    """Answer the first bytes of each connection with *answer*, and close it."""

    def handle(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_WR)
        # Unread bytes would reset the connection, and the client might lose the answer.
        while connection.recv(4096):
            pass

    with serving(handle) as address:
        yield address


@contextmanager
def serving(handle: Callable[[socket.socket], None]) -> Iterator[str]:
    """Handle each connection in a thread, and yield the address."""
    connections: list[socket.socket] = []

    def run(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            handle(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connections.append(connection)
                threads.append(threading.Thread(target=run, args=(connection,), daemon=True))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads = [threading.Thread(target=accept, daemon=True)]
        threads[0].start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            # Unlike close(), this wakes a thread that waits for the socket.
            for waiting in (listener, *connections):
                with suppress(OSError):
                    waiting.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


def http_answer(status: int) -> Callable[[int], bytes]:
    """Return the answer of an HTTP proxy: a page with *status*."""
    # A literal without indexing for each header (RFC 7541, section 6.2.2).
    fields = {":status": str(status), "content-type": "text/html"}
    block = b"".join(
        b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
        for name, value in fields.items()
    )

    def answer(stream: int) -> bytes:
        page = _frame(DATA, END_STREAM, stream, b"<html></html>")
        return _frame(HEADERS, END_HEADERS, stream, block) + page

    return answer


def reset(code: int) -> Callable[[int], bytes]:
    """Return the answer that resets the stream with *code* (RFC 9113, section 7)."""
    return lambda stream: _frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def go_away(code: int) -> Callable[[int], bytes]:
    """Return the GOAWAY with *code* of a server that has processed no stream."""
    return lambda _: _frame(GOAWAY, 0, 0, struct.pack(">II", 0, code))


def _speak_http2(connection: socket.socket, answer: Callable[[int], bytes]) -> None:
    stream = connection.makefile("rb")
    stream.read(len(PREFACE))
    connection.sendall(_frame(SETTINGS, 0, 0))
    while len(head := stream.read(9)) == 9:
        size = int.from_bytes(head[:3])
        kind, flags, id_ = head[3], head[4], int.from_bytes(head[5:]) & 0x7FFFFFFF
        payload = stream.read(size)
        if kind == SETTINGS and not flags & ACK:
            connection.sendall(_frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            connection.sendall(_frame(PING, ACK, 0, payload))
        elif kind == DATA and flags & END_STREAM:
            connection.sendall(answer(id_))


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    head = len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4)
    return head + payload
