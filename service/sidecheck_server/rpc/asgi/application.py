"""ASGI application that serves the methods of the table as gRPC."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import grpc

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.asgi.context import AsgiContext, CallAborted, Receive, Scope, Send
from sidecheck_server.rpc.asgi.framing import (
    ACCEPTED_ENCODINGS,
    InvalidFrameError,
    encode_message,
    encode_status,
    is_grpc,
)
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.handler import log_failure
from sidecheck_server.rpc.method_calls import bidi_stream, exempt_unary, server_stream, unary
from sidecheck_server.rpc.method_table import Kind, Method

__all__ = ["GrpcApplication"]

_Headers = list[tuple[bytes, bytes]]

_HEADERS: Final[_Headers] = [
    (b"content-type", b"application/grpc"),
    (b"grpc-accept-encoding", ACCEPTED_ENCODINGS),
]

_START: Final = {
    "type": "http.response.start",
    "status": 200,
    "headers": _HEADERS,
    "trailers": True,
}
_LAST: Final = {"type": "http.response.body", "body": b"", "more_body": False}
_OK: Final = {"type": "http.response.trailers", "headers": [(b"grpc-status", b"0")]}

_OK_STATUS: Final = CallAborted(grpc.StatusCode.OK.value[0], "")
# The texts are those of gRPC, so that both transports answer alike.
_DEADLINE_EXCEEDED: Final = CallAborted(
    grpc.StatusCode.DEADLINE_EXCEEDED.value[0], "Deadline Exceeded"
)
_INTERNAL: Final = CallAborted(grpc.StatusCode.INTERNAL.value[0], "internal error")
_UNKNOWN_METHOD: Final = CallAborted(grpc.StatusCode.UNIMPLEMENTED.value[0], "Method not found!")


@dataclass(frozen=True, slots=True)
class _Served:
    """A served method: the function of `method_calls`, and how its context reads."""

    respond: Callable[[None, AsgiContext], Any]
    is_stream: bool
    #: Returns the context of a call, of its scope and its function to receive.
    begin: Callable[[Scope, Receive], AsgiContext]


# Decision 0076: Envoy runs it, at a third of the cost of grpc.aio.
class GrpcApplication:
    """Serves methods as gRPC over ASGI, to which the server must add trailers (HTTP/2)."""

    def __init__(
        self,
        admission: Admission,
        metrics: CallMetrics,
        authorizer: Authorizer,
        max_message_bytes: int,
    ) -> None:
        self._admission = admission
        self._metrics = metrics
        self._authorizer = authorizer
        self._max_bytes = max_message_bytes
        self._served: dict[str, _Served] = {}

    def add_methods(self, methods: Iterable[Method], *, exempt: bool = False) -> None:
        """Serve *methods*; admission does not limit calls of *exempt* ones."""
        for method in methods:
            metrics = self._metrics.of(method)
            admission, authorizer = self._admission, self._authorizer
            respond: Any
            if method.kind is Kind.BIDI_STREAM:
                respond = bidi_stream(method, metrics, authorizer)
            elif method.kind is Kind.SERVER_STREAM:
                respond = server_stream(method, admission, metrics, authorizer)
            else:
                create = exempt_unary if exempt else unary
                respond = create(method, admission, metrics, authorizer)
            is_bidi = method.kind is Kind.BIDI_STREAM
            begin = partial(
                AsgiContext,
                max_bytes=self._max_bytes,
                is_single=not is_bidi,
                deserialize=method.deserialize if is_bidi else bytes,
            )
            is_stream = method.kind is not Kind.UNARY
            self._served[f"/{method.path}"] = _Served(respond, is_stream, begin)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        response = _Response(send)
        served = self._served.get(scope["path"])
        if not _is_call(scope):
            await _reject_request(scope, send)
            return
        if served is None:
            await response.end(_UNKNOWN_METHOD)
            return
        try:
            context = served.begin(scope, receive)
        except InvalidFrameError as error:
            await response.end(CallAborted(error.code.value[0], str(error)))
            return
        try:
            await _answer(served, context, response)
        except OSError:
            # ASGI's error of a response whose peer is gone.
            return
        except Exception as error:  # noqa: BLE001  (the server would write its text to the log)
            log_failure(error, scope["path"])
            await response.end(_INTERNAL)
        finally:
            context.close()


async def _answer(served: _Served, context: AsgiContext, response: "_Response") -> None:
    """Send the messages and the status of one call.

    Raises:
        CancelledError: neither the deadline nor the peer has cancelled the call.
    """
    try:
        if served.is_stream:
            await _respond_each(response, served.respond(None, context))
        else:
            await response.send_only(await served.respond(None, context))
    except CallAborted as aborted:
        await response.end(aborted)
    except asyncio.CancelledError:
        if not (context.has_passed_deadline or context.is_disconnected):
            raise
        context.uncancel()
        if context.has_passed_deadline:
            await response.end(_DEADLINE_EXCEEDED)


class _Response:
    """The response of a call, whose headers are sent with its first message or its end."""

    __slots__ = ("_has_started", "_send")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_started = False

    async def send_only(self, message: bytes) -> None:
        """Send *message* and the status OK."""
        await self._send(_START)
        await self._send({"type": "http.response.body", "body": encode_message(message)})
        await self._send(_OK)

    async def send(self, message: bytes) -> None:
        """Send one of several messages, and wait until the peer has room for more."""
        if not self._has_started:
            self._has_started = True
            await self._send(_START)
        body = encode_message(message)
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self, status: CallAborted) -> None:
        """Send *status*, as headers if no message was sent (Trailers-Only)."""
        trailers = encode_status(status.code, status.message, status.metadata)
        if self._has_started:
            await self._send(_LAST)
            await self._send({"type": "http.response.trailers", "headers": trailers})
        else:
            await self._send({**_START, "headers": [*_HEADERS, *trailers], "trailers": False})
            await self._send(_LAST)


async def _respond_each(response: _Response, messages: AsyncGenerator[Any]) -> None:
    async with aclosing(messages):
        async for message in messages:
            await response.send(message.SerializeToString())
            # Released at once, since the wait for the next message may be long.
            del message
    await response.end(_OK_STATUS)


def _is_call(scope: Scope) -> bool:
    return scope["method"] == "POST" and any(
        name == b"content-type" and is_grpc(value) for name, value in scope["headers"]
    )


async def _reject_request(scope: Scope, send: Send) -> None:
    """Answer a request that is no call of gRPC."""
    if scope["method"] == "POST":
        status, header = 415, (b"accept-post", b"application/grpc")
    else:
        status, header = 405, (b"allow", b"POST")
    await send({"type": "http.response.start", "status": status, "headers": [header]})
    await send(_LAST)
