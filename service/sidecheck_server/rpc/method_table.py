"""Table of the served methods, from which each transport has an adapter."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = [
    "Kind",
    "Method",
    "SharedResponse",
    "Unreadable",
    "message_of",
    "methods_of",
    "raise_if_unreadable",
]


class Kind(Enum):
    """Cardinality of the requests and responses of a call."""

    UNARY = "unary"
    #: One request, many responses.
    SERVER_STREAM = "server_stream"
    #: Many requests and responses.
    BIDI_STREAM = "bidi_stream"


# Decision 0062: methods know no transport, so that gRPC, HTTP and local calls share them.
@dataclass(frozen=True, slots=True)
class Method:
    """A method with the handler of its calls."""

    #: Full name of the service.
    service: str
    name: str
    kind: Kind
    #: Classes of the messages.
    request_type: Any
    response_type: Any
    #: Takes the request, or an iterator of requests, and the `Call`. Returns an awaitable of the
    #: response, which may be a `SharedResponse`, or an iterator of responses. Raises
    #: `CallFailed`. Requests may be `Unreadable`.
    handler: Callable[[Any, Any], Any]

    @property
    def path(self) -> str:
        """Full name of the method."""
        return f"{self.service}/{self.name}"

    def deserialize(self, data: bytes) -> Any:
        """Return the request in *data*, or `Unreadable`."""
        try:
            return self.request_type.FromString(data)
        except DecodeError:
            return Unreadable(self.request_type.DESCRIPTOR.full_name)


@dataclass(frozen=True, slots=True)
class SharedResponse:
    """A response to many calls, serialized once for transports that send bytes."""

    message: Any
    serialized: bytes


def message_of(response: Any) -> Any:
    """Return the message of *response*, the result of a handler."""
    return response.message if isinstance(response, SharedResponse) else response


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Placeholder for a request whose bytes are not a message."""

    #: The full name of the expected message.
    expected: str


def methods_of(
    servicers: Iterable[tuple[ServiceDescriptor, object]], *, skip_missing: bool = False
) -> Iterator[Method]:
    """Yield the methods of services, with handlers from their servicers.

    With *skip_missing*, methods without a handler are left out, so that clients receive
    UNIMPLEMENTED. This is for services of a library, whose later releases may add methods.

    Raises:
        AttributeError: a servicer lacks a method, without *skip_missing*.
    """
    for service, servicer in servicers:
        for method in service.methods:
            if skip_missing and not hasattr(servicer, method.name):
                continue
            yield Method(
                service.full_name,
                method.name,
                _kind(method),
                GetMessageClass(method.input_type),
                GetMessageClass(method.output_type),
                getattr(servicer, method.name),
            )


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


def _kind(method: MethodDescriptor) -> Kind:
    if method.client_streaming:
        return Kind.BIDI_STREAM
    return Kind.SERVER_STREAM if method.server_streaming else Kind.UNARY
