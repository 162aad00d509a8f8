"""Methods: how those of a servicer are joined to the wire.

The generated code would do, but for bytes that are no message: gRPC answers those
itself, with UNKNOWN and the text of a Python exception.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["Unreadable", "add_service", "refuse_unreadable"]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What came in place of a message, and is none."""

    #: The full name of the message that was expected.
    expected: str


def refuse_unreadable(request: object) -> None:
    """Refuse what came in place of a message.

    Raises:
        Refusal: INVALID_REQUEST.
    """
    if isinstance(request, Unreadable):
        raise RequestError(
            ErrorReason.INVALID_REQUEST,
            f"the request is not a message of the type {request.expected}",
            {"expected": request.expected},
        )


def add_service(server: grpc.aio.Server, service: ServiceDescriptor, servicer: object) -> None:
    """Make *server* serve *service* by the methods of *servicer* that have its methods' names.

    They are given a request, or `Unreadable`; those of streams, many of either.
    """
    handlers: dict[str, Any] = {
        method.name: _KINDS[method.client_streaming, method.server_streaming](
            getattr(servicer, method.name),
            request_deserializer=_reader(GetMessageClass(method.input_type)),
            response_serializer=GetMessageClass(method.output_type).SerializeToString,
        )
        for method in service.methods
    }
    generic = grpc.method_handlers_generic_handler(service.full_name, handlers)
    server.add_generic_rpc_handlers((generic,))


_KINDS: Mapping[tuple[bool, bool], Any] = MappingProxyType(
    {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
)


def _reader(message: Any) -> Callable[[bytes], Any]:
    parse = message.FromString
    unreadable = Unreadable(message.DESCRIPTOR.full_name)

    def read(data: bytes) -> Any:
        try:
            return parse(data)
        except DecodeError:
            return unreadable

    return read
