"""Calls of methods on transports with messages and statuses of gRPC.

Each function of this module makes, of a method of the table, the function that a transport runs
for each call.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Final, NoReturn, Self

import grpc

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.bytes_in_flight import SMALL
from sidecheck_server.rpc.call_metrics import MethodMetrics
from sidecheck_server.rpc.calls import CallFailed, has_passed_deadline
from sidecheck_server.rpc.context import Context
from sidecheck_server.rpc.handler import failed_call_status
from sidecheck_server.rpc.method_table import Method, SharedResponse, message_of
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.status import abort
from sidecheck_server.workers import CALLER

__all__ = ["bidi_stream", "exempt_unary", "server_stream", "set_caller", "unary"]


def set_caller(context: Context) -> None:
    """Set `CALLER` to the peer of *context*; must be called at the start of the call.

    gRPC frees the peer with the call, and reading it afterwards crashes the process.
    """
    CALLER.set(context.peer())


_OK: Final[int] = grpc.StatusCode.OK.value[0]
_CANCELLED: Final[int] = grpc.StatusCode.CANCELLED.value[0]
_DEADLINE_EXCEEDED: Final[int] = grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
_UNKNOWN: Final[int] = grpc.StatusCode.UNKNOWN.value[0]

_ENDED_BY_PEER: Final = (asyncio.CancelledError, GeneratorExit, grpc.aio.InternalError)
"""Exceptions of a cancelled call in a handler: of its task, its generator and its reads."""

_FAILURES: Final = (CallFailed, RequestError)

_CANCELLATION_TURNS: Final = 3
"""Turns of the event loop within which gRPC cancels the task of a cancelled call."""


class _ObservedCall:
    """A call, as a context manager that records its metrics."""

    __slots__ = ("_context", "_method", "_metrics", "_started_at", "code", "observe")

    def __init__(self, context: Context, method: Method, metrics: MethodMetrics) -> None:
        self._started_at = metrics.begin()
        self._context = context
        self._method = method
        self._metrics = metrics
        self.observe = metrics.observe
        #: The code of the status that ends the call.
        self.code = _OK
        set_caller(context)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_exc_info: object) -> None:
        if kind is not None and self.code == _OK:
            self.code = self._code_of(kind)
        self._metrics.end(self.code, self._started_at)

    @property
    def peer(self) -> str:
        """Address of the connection."""
        return CALLER.get()

    @property
    def metadata(self) -> Mapping[str, str]:
        """Text metadata, by name."""
        metadata = self._context.invocation_metadata() or ()
        return {name: value for name, value in metadata if isinstance(value, str)}

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline."""
        return self._context.time_remaining()

    def observe_error(self, reason: ErrorReason | None) -> None:
        """Count a failed call by its reason; None for an unexpected exception."""
        self._metrics.observe_error(reason)

    def authorize(self, authorizer: Authorizer) -> None:
        """Check that the caller may make the call.

        Raises:
            RequestError: UNAUTHENTICATED or PERMISSION_DENIED.
        """
        if authorizer.requires_tokens:
            authorizer.authorize(self.metadata.get("authorization"), self._method.path)

    async def fail(self, error: BaseException, gate: ShutdownGate | None = None) -> NoReturn:
        """End the call with the status of *error*; see `failed_call_status`."""
        status = failed_call_status(error, self._method.name, self._metrics.observe_error, gate)
        self.code = status.code
        await abort(self._context, status)

    def _code_of(self, kind: type[BaseException]) -> int:
        """Return the code of the call, which an exception of *kind* ended."""
        if not issubclass(kind, _ENDED_BY_PEER):
            return _UNKNOWN
        seconds = time.perf_counter() - self._started_at
        is_late = has_passed_deadline(self._context.time_remaining(), seconds)
        return _DEADLINE_EXCEEDED if is_late else _CANCELLED


# Decision 0066: one function, since every coroutine is a part of the cost of a small call.
def unary(
    method: Method, admission: Admission, metrics: MethodMetrics, authorizer: Authorizer
) -> Any:
    """Return the function for calls of a unary *method*."""
    handler, deserialize, gate = method.handler, method.deserialize, admission.gate

    async def respond(_messages: object, context: Context) -> bytes:
        with _ObservedCall(context, method, metrics) as call:
            try:
                if authorizer.requires_tokens:
                    call.authorize(authorizer)
                task = await gate.enter_after_pause() if gate.is_paused else gate.enter()
                try:
                    admission.begin(context)
                    try:
                        message = await admission.receive(context, task)
                        metrics.received += 1
                        response = await handler(deserialize(message), call)
                    finally:
                        admission.end()
                    if isinstance(response, SharedResponse):
                        serialized = response.serialized
                    else:
                        serialized = response.SerializeToString()
                        del response
                    if len(serialized) > SMALL:
                        await admission.wait_for_room(context, len(serialized))
                finally:
                    gate.leave(task)
                    if gate.is_paused:
                        await gate.hold_response()
            except (*_FAILURES, asyncio.CancelledError) as error:
                await call.fail(error, gate)
            metrics.sent += 1
            return serialized

    return respond


def exempt_unary(
    method: Method, admission: Admission, metrics: MethodMetrics, authorizer: Authorizer
) -> Any:
    """Return the function for calls of a unary *method* without limits of admission."""

    async def respond(_messages: object, context: Context) -> bytes:
        with _ObservedCall(context, method, metrics) as call:
            try:
                call.authorize(authorizer)
                message = await admission.receive(context)
                metrics.received += 1
                response = message_of(await method.handler(method.deserialize(message), call))
            except _FAILURES as error:
                await call.fail(error)
            metrics.sent += 1
            serialized: bytes = response.SerializeToString()
            return serialized

    return respond


def server_stream(
    method: Method, admission: Admission, metrics: MethodMetrics, authorizer: Authorizer
) -> Any:
    """Return the function for calls of a *method* with a stream of responses."""

    async def respond(_messages: object, context: Context) -> AsyncIterator[Any]:
        with _ObservedCall(context, method, metrics) as call:
            try:
                call.authorize(authorizer)
                message = await admission.receive(context)
                metrics.received += 1
                async with aclosing(method.handler(method.deserialize(message), call)) as responses:
                    async for response in responses:
                        metrics.sent += 1
                        yield response
            except _FAILURES as error:
                await call.fail(error)

    return respond


def bidi_stream(method: Method, metrics: MethodMetrics, authorizer: Authorizer) -> Any:
    """Return the function for calls of a *method* with streams of requests and responses."""

    async def respond(_requests: object, context: Context) -> AsyncIterator[Any]:
        with _ObservedCall(context, method, metrics) as call:
            try:
                call.authorize(authorizer)
                # Closed here: the garbage collector may find generators at any depth of recursion,
                # where the event loop cannot close them.
                async with (
                    aclosing(_read_requests(context, metrics)) as requests,
                    aclosing(method.handler(requests, call)) as responses,
                ):
                    async for response in responses:
                        metrics.sent += 1
                        yield response
            except _FAILURES as error:
                await call.fail(error)

    return respond


async def _read_requests(context: Context, metrics: MethodMetrics) -> AsyncGenerator[Any]:
    """Yield the requests of a stream, without keeping one while waiting for the next.

    The iterator of gRPC keeps the previous request during that wait.
    """
    while (request := await context.read()) is not grpc.aio.EOF:
        metrics.received += 1
        yield request
        del request
    # If the call is cancelled, gRPC first reports the end of the requests, and cancels the task
    # some turns of the event loop later.
    for _ in range(_CANCELLATION_TURNS):
        await asyncio.sleep(0)
