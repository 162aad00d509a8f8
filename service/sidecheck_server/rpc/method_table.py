"""Table of the methods that are served, for the adapter of any transport."""

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
    """How many requests and responses a call has."""

    UNARY = "unary"
    #: One request, many responses.
    SERVER_STREAM = "server_stream"
    #: Many of both.
    BIDI_STREAM = "bidi_stream"


@dataclass(frozen=True, slots=True)
class Method:
    """A method, and what responds to its calls."""

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
    """A response to many calls, serialized once for transports that send it so."""

    message: Any
    serialized: bytes


def message_of(response: Any) -> Any:
    """Return the message of *response*, which a handler returned."""
    return response.message if isinstance(response, SharedResponse) else response


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a request whose bytes are not a message."""

    #: The full name of the message that was expected.
    expected: str


def methods_of(
    servicers: Iterable[tuple[ServiceDescriptor, object]], *, shared_only: bool = False
) -> Iterator[Method]:
    """Yield the methods of services, which their servicers have under the same names.

    With *shared_only*, methods without a handler are left out, and clients receive
    UNIMPLEMENTED: for services that a library declares, whose releases may add methods.

    Raises:
        AttributeError: a servicer lacks a method, without *shared_only*.
    """
    for service, servicer in servicers:
        for method in service.methods:
            if shared_only and not hasattr(servicer, method.name):
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
