"""Adapter of gRPC: the methods of the table, served by a gRPC server.

The generated code would do, but gRPC answers bytes that are not a message itself, with
UNKNOWN and the text of a Python exception.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final, NoReturn, Self

import grpc

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.admission import Admission, Context
from sidecheck_server.rpc.bytes_in_flight import SMALL
from sidecheck_server.rpc.call_metrics import CallMetrics, MethodMetrics
from sidecheck_server.rpc.calls import CallFailed, has_passed_deadline
from sidecheck_server.rpc.handler import failed_call_status
from sidecheck_server.rpc.method_table import Kind, Method, SharedResponse, message_of
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.status import abort
from sidecheck_server.workers import CALLER

__all__ = [
    "add_methods",
    "set_caller",
]


def set_caller(context: grpc.aio.ServicerContext[Any, Any]) -> None:
    """Set `CALLER` to the peer of the call of *context*, which must have just begun.

    gRPC frees the peer with the call: reading it later, for work that outlives the call,
    crashes the process.
    """
    CALLER.set(context.peer())


_OK: Final[int] = grpc.StatusCode.OK.value[0]
_CANCELLED: Final[int] = grpc.StatusCode.CANCELLED.value[0]
_DEADLINE_EXCEEDED: Final[int] = grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
_UNKNOWN: Final[int] = grpc.StatusCode.UNKNOWN.value[0]

_ENDED_BY_PEER: Final = (asyncio.CancelledError, GeneratorExit, grpc.aio.InternalError)
"""How a handler learns that its call was cancelled: its task, its generator, what it reads."""

_FAILURES: Final = (CallFailed, RequestError)

_TURNS: Final = 3


def add_methods(
    server: grpc.aio.Server,
    methods: Iterable[Method],
    admission: Admission,
    metrics: CallMetrics,
    authorizer: Authorizer,
    *,
    exempt: bool = False,
) -> None:
    """Serve *methods* on *server*; gRPC looks services up in the order of the first ones.

    *authorizer* authorizes calls, and *admission* admits unary ones; with *exempt*, any number
    of them. All are in *metrics*.
    """
    services: dict[str, dict[str, Any]] = defaultdict(dict)
    for method in methods:
        services[method.service][method.name] = _handler(
            method, admission, metrics.of(method), authorizer, exempt=exempt
        )
    for service, handlers in services.items():
        generic = grpc.method_handlers_generic_handler(service, handlers)
        server.add_generic_rpc_handlers((generic,))


def _handler(
    method: Method,
    admission: Admission,
    metrics: MethodMetrics,
    authorizer: Authorizer,
    *,
    exempt: bool,
) -> Any:
    # Functions, not methods of an object: gRPC inspects them at each call, which takes it twice
    # as long with methods.
    serialize = method.response_type.SerializeToString
    if method.kind is Kind.BIDI_STREAM:
        return grpc.stream_stream_rpc_method_handler(
            _bidi_stream(method, metrics, authorizer),
            request_deserializer=method.deserialize,
            response_serializer=serialize,
        )
    # gRPC reads the request of a unary call before it calls the handler, however long that
    # takes. The handler of a stream is called at once, and reads by itself. On the wire, both
    # are the same.
    if method.kind is Kind.SERVER_STREAM:
        return grpc.stream_stream_rpc_method_handler(
            _server_stream(method, admission, metrics, authorizer), response_serializer=serialize
        )
    create = _exempt_unary if exempt else _unary
    return grpc.stream_unary_rpc_method_handler(create(method, admission, metrics, authorizer))


class _GrpcCall:
    """A call of gRPC, which is the block; it must have just begun, and is measured."""

    __slots__ = ("_begun", "_context", "_method", "_metrics", "code", "observe")

    def __init__(self, context: Context, method: Method, metrics: MethodMetrics) -> None:
        self._begun = metrics.begin()
        self._context = context
        self._method = method
        self._metrics = metrics
        self.observe = metrics.observe
        #: Of the status that it ends with.
        self.code = _OK
        set_caller(context)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_exc_info: object) -> None:
        if kind is not None and self.code == _OK:
            self.code = self._code_of(kind)
        self._metrics.end(self.code, self._begun)

    @property
    def peer(self) -> str:
        """Who calls: the address of the connection."""
        return CALLER.get()

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata that are text."""
        metadata = self._context.invocation_metadata() or ()
        return {name: value for name, value in metadata if isinstance(value, str)}

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline."""
        return self._context.time_remaining()

    def observe_error(self, reason: ErrorReason | None) -> None:
        """Take why the call failed."""
        self._metrics.observe_error(reason)

    def authorize(self, authorizer: Authorizer) -> None:
        """Check that the caller may make the call.

        Raises:
            RequestError: it may not.
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
        seconds = time.perf_counter() - self._begun
        is_late = has_passed_deadline(self._context.time_remaining(), seconds)
        return _DEADLINE_EXCEEDED if is_late else _CANCELLED


def _unary(
    method: Method, admission: Admission, metrics: MethodMetrics, authorizer: Authorizer
) -> Any:
    """Return what responds to calls with one request and one response."""
    handler, deserialize, gate = method.handler, method.deserialize, admission.gate

    async def respond(_messages: object, context: Context) -> bytes:
        # One function: each that another awaits is a part of what a small call costs.
        with _GrpcCall(context, method, metrics) as call:
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
                        await admission.make_room(context, len(serialized))
                finally:
                    gate.leave(task)
                    if gate.is_paused:
                        await gate.hold_response()
            except (*_FAILURES, asyncio.CancelledError) as error:
                await call.fail(error, gate)
            metrics.sent += 1
            return serialized

    return respond


def _exempt_unary(
    method: Method, admission: Admission, metrics: MethodMetrics, authorizer: Authorizer
) -> Any:
    """Return what responds to calls as `_unary`, also those that would not be admitted."""

    async def respond(_messages: object, context: Context) -> bytes:
        with _GrpcCall(context, method, metrics) as call:
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


def _server_stream(
    method: Method, admission: Admission, metrics: MethodMetrics, authorizer: Authorizer
) -> Any:
    """Return what responds to calls with one request and many responses."""

    async def respond(_messages: object, context: Context) -> AsyncIterator[Any]:
        with _GrpcCall(context, method, metrics) as call:
            try:
                call.authorize(authorizer)
                message = await admission.receive(context)
                metrics.received += 1
                async for response in method.handler(method.deserialize(message), call):
                    metrics.sent += 1
                    yield response
            except _FAILURES as error:
                await call.fail(error)

    return respond


def _bidi_stream(method: Method, metrics: MethodMetrics, authorizer: Authorizer) -> Any:
    """Return what responds to calls with many requests and responses."""

    async def respond(_requests: object, context: Context) -> AsyncIterator[Any]:
        with _GrpcCall(context, method, metrics) as call:
            try:
                call.authorize(authorizer)
                async for response in method.handler(_received(context, metrics), call):
                    metrics.sent += 1
                    yield response
            except _FAILURES as error:
                await call.fail(error)

    return respond


async def _received(context: Context, metrics: MethodMetrics) -> AsyncIterator[Any]:
    """Yield the requests of a stream. None is kept while the next is awaited.

    The iterator of gRPC would keep each until then, however long that takes.
    """
    while (request := await context.read()) is not grpc.aio.EOF:
        metrics.received += 1
        yield request
        del request
    # To who reads, gRPC reports a cancelled call as one without further requests, and cancels
    # the task some turns of the event loop later.
    for _ in range(_TURNS):
        await asyncio.sleep(0)
