"""Remote procedures of the API, read from the descriptors of the generated code."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    validation_service_pb2,
)

__all__ = ["RPCS", "SERVICES", "STREAMS", "Rpc", "find_rpc"]

MODULES: Final[tuple[Any, ...]] = (
    validation_service_pb2,
    registry_service_pb2,
    protocol_service_pb2,
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
)


@dataclass(frozen=True, slots=True)
class Rpc:
    """A remote procedure: its service, name and message classes."""

    #: Full name of the service.
    service: str
    name: str
    request: type[Message]
    response: type[Message]
    #: Whether the server sends a stream of messages.
    streaming: bool
    #: Whether the client sends a stream as well.
    many_requests: bool

    @property
    def path(self) -> str:
        """Path of the HTTP/2 request."""
        return f"/{self.service}/{self.name}"


def read_rpcs() -> Iterator[Rpc]:
    """Yield the remote procedures of all services."""
    for module in MODULES:
        for service in module.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                yield Rpc(
                    service.full_name,
                    method.name,
                    GetMessageClass(method.input_type),
                    GetMessageClass(method.output_type),
                    method.server_streaming,
                    method.client_streaming,
                )


#: All remote procedures. Each request class belongs to one procedure.
RPCS: Final = tuple(read_rpcs())

#: Full names of all services.
SERVICES: Final = tuple(dict.fromkeys(rpc.service for rpc in RPCS))

#: Remote procedures with a stream of responses.
STREAMS: Final = tuple(rpc for rpc in RPCS if rpc.streaming)

BY_REQUEST: Final = {rpc.request: rpc for rpc in RPCS}


def find_rpc(request: type[Message]) -> Rpc:
    """Return the remote procedure that takes messages of the class *request*."""
    return BY_REQUEST[request]
