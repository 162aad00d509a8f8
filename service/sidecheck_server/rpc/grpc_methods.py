"""Adapter of gRPC: the methods of the table, served by a gRPC server.

The generated code would do, but gRPC answers bytes that are not a message itself, with
UNKNOWN and the text of a Python exception.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final, Self

import grpc
import structlog

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.admission import Admission, Context
from sidecheck_server.rpc.bytes_in_flight import SMALL
from sidecheck_server.rpc.call_metrics import CallMetrics, MethodMetrics
from sidecheck_server.rpc.caller import set_caller
from sidecheck_server.rpc.calls import CallFailed
from sidecheck_server.rpc.method_table import Kind, Method
from sidecheck_server.rpc.status import abort, status_from_error
from sidecheck_server.workers import CALLER

__all__ = ["add_methods"]

_CANCELLED: Final[int] = grpc.StatusCode.CANCELLED.value[0]
_DEADLINE_EXCEEDED: Final[int] = grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
_UNKNOWN: Final[int] = grpc.StatusCode.UNKNOWN.value[0]

_ENDED_BY_PEER: Final = (asyncio.CancelledError, GeneratorExit, grpc.aio.InternalError)
"""How a handler learns that its call was cancelled: its task, its generator, what it reads."""

_TURNS: Final = 3

_WAY_SECONDS: Final = 0.05
"""How long a call may be under way to the server, for telling why the peer ended it."""

_log = structlog.get_logger("sidecheck.rpc")


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
    serialize = method.response_type.SerializeToString
    if method.kind is Kind.BIDI_STREAM:
        return grpc.stream_stream_rpc_method_handler(
            _StreamMethod(method, metrics, authorizer).respond,
            request_deserializer=method.deserialize,
            response_serializer=serialize,
        )
    single = _SingleRequestMethod(method, admission, metrics, authorizer, exempt=exempt)
    if method.kind is Kind.SERVER_STREAM:
        return grpc.stream_stream_rpc_method_handler(
            single.respond_with_stream, response_serializer=serialize
        )
    return grpc.stream_unary_rpc_method_handler(single.respond, response_serializer=serialize)


class _GrpcCall:
    """A call of gRPC, which must have just begun."""

    __slots__ = ("_context", "_method", "observe", "observe_error")

    def __init__(self, context: Context, method: Method, metrics: MethodMetrics) -> None:
        self._context = context
        self._method = method
        self.observe = metrics.observe
        self.observe_error = metrics.observe_error
        set_caller(context)

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

    def authorize(self, authorizer: Authorizer) -> None:
        """Check that the caller may make the call.

        Raises:
            CallFailed: it may not.
        """
        if authorizer.requires_tokens:
            try:
                authorizer.authorize(self.metadata.get("authorization"), self._method.path)
            except RequestError as error:
                raise self.failure(error) from None

    def failure(self, error: RequestError) -> CallFailed:
        """Return the end of the call, which was not admitted, and log it."""
        self.observe_error(error.reason)
        # An overload is logged once a second: writing an event costs as much as a small call.
        if error.reason is not ErrorReason.OVERLOADED:
            _log.info("rpc.rejected", method=self._method.name, reason=error.reason.value)
        return CallFailed(status_from_error(error))


class _StreamMethod:
    """A method with a stream of requests."""

    def __init__(self, method: Method, metrics: MethodMetrics, authorizer: Authorizer) -> None:
        self._method = method
        self._handler = method.handler
        self._metrics = metrics
        self._authorizer = authorizer

    async def respond(self, requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        """Yield the responses to the requests of a call."""
        with _Measured(self._metrics, context) as measured:
            call = _GrpcCall(context, self._method, self._metrics)
            try:
                call.authorize(self._authorizer)
                async for response in self._handler(_counted(requests, self._metrics), call):
                    self._metrics.sent += 1
                    yield response
            except CallFailed as failed:
                measured.code = failed.status.code
                await abort(context, failed.status)


async def _counted(requests: AsyncIterator[Any], metrics: MethodMetrics) -> AsyncIterator[Any]:
    async for request in requests:
        metrics.received += 1
        yield request
    # To who reads, gRPC reports a cancelled call as one without further requests, and cancels
    # the task some turns of the event loop later.
    for _ in range(_TURNS):
        await asyncio.sleep(0)


class _Measured:
    """Measures a call, which is the block."""

    __slots__ = ("_begun", "_context", "_metrics", "code")

    def __init__(self, metrics: MethodMetrics, context: Context) -> None:
        self._metrics = metrics
        self._context = context
        #: Of the status that it ends with.
        self.code = 0

    def __enter__(self) -> Self:
        self._begun = self._metrics.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_exc_info: object) -> None:
        if kind is not None and not self.code:
            self.code = self._code_of(kind)
        self._metrics.end(self.code, self._begun)

    def _code_of(self, kind: type[BaseException]) -> int:
        """Return the code of a call that an exception of *kind* ended."""
        if not issubclass(kind, _ENDED_BY_PEER):
            return _UNKNOWN
        left = self._context.time_remaining()
        if left is None:
            return _CANCELLED
        # The peer's clock began before ours, by the time that the call was under way, and its
        # deadline is rounded on the wire to two digits or more.
        slack = max(_WAY_SECONDS, 0.01 * (time.perf_counter() - self._begun))
        return _DEADLINE_EXCEEDED if left <= slack else _CANCELLED


class _SingleRequestMethod:
    """A method with one request, registered as one with a stream of requests.

    gRPC reads the request of a unary call before it calls the handler, however long that
    takes. The handler of a stream is called at once, and reads by itself. On the wire, both
    are the same.
    """

    def __init__(
        self,
        method: Method,
        admission: Admission,
        metrics: MethodMetrics,
        authorizer: Authorizer,
        *,
        exempt: bool,
    ) -> None:
        self._method = method
        self._authorizer = authorizer
        self._handler = method.handler
        self._deserialize = method.deserialize
        self._admission = admission
        self._metrics = metrics
        self._exempt = exempt

    async def respond(self, _messages: object, context: Context) -> Any:
        """Return the response to the request of a call."""
        with _Measured(self._metrics, context) as measured:
            try:
                response = await self._respond(context)
            except CallFailed as failed:
                measured.code = failed.status.code
                await abort(context, failed.status)
            self._metrics.sent += 1
            return response

    async def respond_with_stream(self, _messages: object, context: Context) -> Any:
        """Yield the responses to the request of a call."""
        with _Measured(self._metrics, context) as measured:
            call = _GrpcCall(context, self._method, self._metrics)
            try:
                call.authorize(self._authorizer)
                request = self._deserialize(await self._receive(context))
                async for response in self._handler(request, call):
                    self._metrics.sent += 1
                    yield response
            except CallFailed as failed:
                measured.code = failed.status.code
                await abort(context, failed.status)
            except RequestError as error:
                status = call.failure(error).status
                measured.code = status.code
                await abort(context, status)

    async def _respond(self, context: Context) -> Any:
        """Return the response to the request of a call.

        Raises:
            CallFailed: there is none.
        """
        call = _GrpcCall(context, self._method, self._metrics)
        call.authorize(self._authorizer)
        admission = self._admission
        try:
            if self._exempt:
                return await self._handler(self._deserialize(await self._receive(context)), call)
            with admission.gate.admit():
                admission.begin(context)
                try:
                    request = self._deserialize(await self._receive(context))
                    response = await self._handler(request, call)
                finally:
                    admission.end()
                size = response.ByteSize()
                if size > SMALL:
                    await admission.make_room(context, size)
        except RequestError as error:
            raise call.failure(error) from None
        except asyncio.CancelledError:
            ended = admission.gate.cancelled_call_error()
            if ended is None:
                raise
            raise call.failure(ended) from None
        return response

    async def _receive(self, context: Context) -> bytes:
        message = await self._admission.receive(context)
        self._metrics.received += 1
        return message
