"""Registration of methods with the gRPC server.

The generated code would do, but gRPC answers bytes that are not a message itself, with
UNKNOWN and the text of a Python exception.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc
import structlog
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.admission import Admission, Context
from sidecheck_server.rpc.bytes_in_flight import SMALL
from sidecheck_server.rpc.caller import set_caller
from sidecheck_server.rpc.status import abort, status_from_error

__all__ = ["Unreadable", "add_service", "raise_if_unreadable"]

_log = structlog.get_logger("sidecheck.rpc")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a request whose bytes are not a message."""

    #: The full name of the message that was expected.
    expected: str


def raise_if_unreadable(request: object) -> None:
    """Reject a request whose bytes are not a message.

    Raises:
        RequestError: INVALID_REQUEST.
    """
    if isinstance(request, Unreadable):
        raise RequestError(
            ErrorReason.INVALID_REQUEST,
            f"the request is not a message of the type {request.expected}",
            {"expected": request.expected},
        )


def add_service(
    server: grpc.aio.Server,
    service: ServiceDescriptor,
    servicer: object,
    admission: Admission,
    *,
    exempt: bool = False,
) -> None:
    """Serve *service* on *server* by the methods of *servicer* that have the same names.

    They are called with a request or `Unreadable`; methods of streams, with many of either.
    *admission* admits unary calls; with *exempt*, any number of them.
    """
    handlers: dict[str, Any] = {}
    for method in service.methods:
        implementation = getattr(servicer, method.name)
        deserialize = _deserializer(GetMessageClass(method.input_type))
        serialize = GetMessageClass(method.output_type).SerializeToString
        if method.client_streaming:
            handlers[method.name] = grpc.stream_stream_rpc_method_handler(
                implementation, request_deserializer=deserialize, response_serializer=serialize
            )
            continue
        unary = _UnaryMethod(method.name, implementation, deserialize, admission, exempt=exempt)
        if method.server_streaming:
            handlers[method.name] = grpc.stream_stream_rpc_method_handler(
                unary.respond_with_stream, response_serializer=serialize
            )
        else:
            handlers[method.name] = grpc.stream_unary_rpc_method_handler(
                unary.respond, response_serializer=serialize
            )
    generic = grpc.method_handlers_generic_handler(service.full_name, handlers)
    server.add_generic_rpc_handlers((generic,))


class _UnaryMethod:
    """A method with one request, registered as one with a stream of requests.

    gRPC reads the request of a unary call before it calls the handler, however long that
    takes. The handler of a stream is called at once, and reads by itself. On the wire, both
    are the same.
    """

    def __init__(
        self,
        name: str,
        implementation: Any,
        deserialize: Callable[[bytes], Any],
        admission: Admission,
        *,
        exempt: bool,
    ) -> None:
        self._name = name
        self._implementation = implementation
        self._deserialize = deserialize
        self._admission = admission
        self._exempt = exempt

    async def respond(self, _messages: object, context: Context) -> Any:
        """Return the response to the request of a call."""
        set_caller(context)
        admission = self._admission
        try:
            if self._exempt:
                request = self._deserialize(await admission.receive(context))
                return await self._implementation(request, context)
            with admission.gate.admit():
                admission.begin(context)
                try:
                    request = self._deserialize(await admission.receive(context))
                    response = await self._implementation(request, context)
                finally:
                    admission.end()
                size = response.ByteSize()
                if size > SMALL:
                    await admission.make_room(context, size)
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
        set_caller(context)
        try:
            request = self._deserialize(await self._admission.receive(context))
        except RequestError as error:
            await self._reject(context, error)
        async for response in self._implementation(request, context):
            yield response

    async def _reject(self, context: Context, error: RequestError) -> NoReturn:
        # An overload is logged once a second: writing an event costs as much as a small call.
        if error.reason is not ErrorReason.OVERLOADED:
            _log.info("rpc.rejected", method=self._name, reason=error.reason.value)
        await abort(context, status_from_error(error))


def _deserializer(message: Any) -> Callable[[bytes], Any]:
    parse = message.FromString
    unreadable = Unreadable(message.DESCRIPTOR.full_name)

    def deserialize(data: bytes) -> Any:
        try:
            return parse(data)
        except DecodeError:
            return unreadable

    return deserialize
