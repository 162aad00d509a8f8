"""The remote procedures of a server, as data."""

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from google.protobuf.message import Message

from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb

__all__ = [
    "DELETE_TOOLS",
    "GET_SERVER_INFO",
    "GET_TOOL",
    "LIST_TOOLS",
    "REGISTER_TOOLS",
    "SERVICES",
    "VALIDATE",
    "VALIDATE_BATCH",
    "VALIDATE_STREAM",
    "Rpc",
]

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)


@dataclass(frozen=True, slots=True)
class Rpc(Generic[RequestT, ResponseT]):
    """A remote procedure: the full name of its service, its own, and its messages."""

    service: str
    name: str
    request: type[RequestT]
    response: type[ResponseT]

    @property
    def path(self) -> str:
        """The path that a call to it takes in HTTP/2."""
        return f"/{self.service}/{self.name}"


VALIDATION: Final = "sidecheck.v1.ValidationService"
REGISTRY: Final = "sidecheck.v1.RegistryService"
INFO: Final = "sidecheck.v1.InfoService"

#: The full names of all services that a client calls.
SERVICES: Final = (VALIDATION, REGISTRY, INFO)

VALIDATE: Final = Rpc(
    VALIDATION, "Validate", validation_pb.ValidateRequest, validation_pb.ValidateResponse
)
VALIDATE_BATCH: Final = Rpc(
    VALIDATION,
    "ValidateBatch",
    validation_pb.ValidateBatchRequest,
    validation_pb.ValidateBatchResponse,
)
VALIDATE_STREAM: Final = Rpc(
    VALIDATION,
    "ValidateStream",
    validation_pb.ValidateStreamRequest,
    validation_pb.ValidateStreamResponse,
)
REGISTER_TOOLS: Final = Rpc(
    REGISTRY,
    "RegisterTools",
    registry_pb.RegisterToolsRequest,
    registry_pb.RegisterToolsResponse,
)
GET_TOOL: Final = Rpc(REGISTRY, "GetTool", registry_pb.GetToolRequest, registry_pb.GetToolResponse)
LIST_TOOLS: Final = Rpc(
    REGISTRY, "ListTools", registry_pb.ListToolsRequest, registry_pb.ListToolsResponse
)
DELETE_TOOLS: Final = Rpc(
    REGISTRY, "DeleteTools", registry_pb.DeleteToolsRequest, registry_pb.DeleteToolsResponse
)
GET_SERVER_INFO: Final = Rpc(
    INFO, "GetServerInfo", info_pb.GetServerInfoRequest, info_pb.GetServerInfoResponse
)
