"""Adapter of gRPC: the methods of the table, served by a gRPC server.

The generated code would do, but gRPC answers bytes that are not a message itself, with
UNKNOWN and the text of a Python exception.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, NoReturn

import grpc
import structlog

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.admission import Admission, Context
from sidecheck_server.rpc.bytes_in_flight import SMALL
from sidecheck_server.rpc.caller import set_caller
from sidecheck_server.rpc.calls import CallFailed
from sidecheck_server.rpc.method_table import Kind, Method
from sidecheck_server.rpc.status import abort, status_from_error
from sidecheck_server.workers import CALLER

__all__ = ["add_methods"]

_log = structlog.get_logger("sidecheck.rpc")


def add_methods(
    server: grpc.aio.Server,
    methods: Iterable[Method],
    admission: Admission,
    *,
    exempt: bool = False,
) -> None:
    """Serve *methods* on *server*; gRPC looks services up in the order of the first ones.

    *admission* admits unary calls; with *exempt*, any number of them.
    """
    services: dict[str, dict[str, Any]] = defaultdict(dict)
    for method in methods:
        services[method.service][method.name] = _handler(method, admission, exempt=exempt)
    for service, handlers in services.items():
        generic = grpc.method_handlers_generic_handler(service, handlers)
        server.add_generic_rpc_handlers((generic,))


def _handler(method: Method, admission: Admission, *, exempt: bool) -> Any:
    serialize = method.response_type.SerializeToString
    if method.kind is Kind.BIDI_STREAM:
        return grpc.stream_stream_rpc_method_handler(
            _StreamMethod(method).respond,
            request_deserializer=method.deserialize,
            response_serializer=serialize,
        )
    single = _SingleRequestMethod(method, admission, exempt=exempt)
    if method.kind is Kind.SERVER_STREAM:
        return grpc.stream_stream_rpc_method_handler(
            single.respond_with_stream, response_serializer=serialize
        )
    return grpc.stream_unary_rpc_method_handler(single.respond, response_serializer=serialize)


class _GrpcCall:
    """A call of gRPC, which must have just begun."""

    __slots__ = ("_context",)

    def __init__(self, context: Context) -> None:
        self._context = context
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


class _StreamMethod:
    """A method with a stream of requests."""

    def __init__(self, method: Method) -> None:
        self._handler = method.handler

    async def respond(self, requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        """Yield the responses to the requests of a call."""
        try:
            async for response in self._handler(requests, _GrpcCall(context)):
                yield response
        except CallFailed as failed:
            await abort(context, failed.status)


class _SingleRequestMethod:
    """A method with one request, registered as one with a stream of requests.

    gRPC reads the request of a unary call before it calls the handler, however long that
    takes. The handler of a stream is called at once, and reads by itself. On the wire, both
    are the same.
    """

    def __init__(self, method: Method, admission: Admission, *, exempt: bool) -> None:
        self._name = method.name
        self._handler = method.handler
        self._deserialize = method.deserialize
        self._admission = admission
        self._exempt = exempt

    async def respond(self, _messages: object, context: Context) -> Any:
        """Return the response to the request of a call."""
        call = _GrpcCall(context)
        admission = self._admission
        try:
            if self._exempt:
                request = self._deserialize(await admission.receive(context))
                return await self._handler(request, call)
            with admission.gate.admit():
                admission.begin(context)
                try:
                    request = self._deserialize(await admission.receive(context))
                    response = await self._handler(request, call)
                finally:
                    admission.end()
                size = response.ByteSize()
                if size > SMALL:
                    await admission.make_room(context, size)
        except CallFailed as failed:
            await abort(context, failed.status)
        except RequestError as error:
            await self._reject(context, error)
        except asyncio.CancelledError:
            ended = admission.gate.cancelled_call_error()
            if ended is None:
                raise
            await self._reject(context, ended)
        return response

    async def respond_with_stream(self, _messages: object, context: Context) -> Any:
        """Yield the responses to the request of a call."""
        call = _GrpcCall(context)
        try:
            request = self._deserialize(await self._admission.receive(context))
            async for response in self._handler(request, call):
                yield response
        except CallFailed as failed:
            await abort(context, failed.status)
        except RequestError as error:
            await self._reject(context, error)

    async def _reject(self, context: Context, error: RequestError) -> NoReturn:
        # An overload is logged once a second: writing an event costs as much as a small call.
        if error.reason is not ErrorReason.OVERLOADED:
            _log.info("rpc.rejected", method=self._name, reason=error.reason.value)
        await abort(context, status_from_error(error))
