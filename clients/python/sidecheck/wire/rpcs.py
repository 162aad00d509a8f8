"""The remote procedures of a server, as data."""

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from google.protobuf.message import Message

from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb

__all__ = [
    "CHECK_BATCH",
    "CHECK_ELICITATION",
    "CHECK_ELICITATION_RESULT",
    "CHECK_MESSAGE",
    "CHECK_SAMPLING",
    "CHECK_SESSION",
    "CHECK_TOOLS",
    "CHECK_TOOL_NAMES",
    "CHECK_TOOL_RESULT",
    "CONVERT_TOOLS",
    "CONVERT_TOOL_RESULT",
    "DELETE_TOOLS",
    "GET_SERVER_INFO",
    "GET_TOOL",
    "INFER_TOOLS",
    "LIST_RULES",
    "LIST_TOOLS",
    "NORMALIZE_TOOL_RESULT",
    "PROJECT_TOOL",
    "REGISTER_TOOLS",
    "RESTORE_TOOL_CALL",
    "SERVICES",
    "STREAMS",
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
PROTOCOL: Final = "sidecheck.v1.ProtocolService"
CONVERSION: Final = "sidecheck.v1.ConversionService"
INFERENCE: Final = "sidecheck.v1.InferenceService"
INFO: Final = "sidecheck.v1.InfoService"

#: The full names of all services that a client calls.
SERVICES: Final = (VALIDATION, REGISTRY, PROTOCOL, CONVERSION, INFERENCE, INFO)

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
LIST_RULES: Final = Rpc(
    PROTOCOL,
    "ListRules",
    protocol_pb.ListRulesRequest,
    protocol_pb.ListRulesResponse,
)
CHECK_TOOL_NAMES: Final = Rpc(
    PROTOCOL,
    "CheckToolNames",
    protocol_pb.CheckToolNamesRequest,
    protocol_pb.CheckToolNamesResponse,
)
CHECK_TOOLS: Final = Rpc(
    PROTOCOL,
    "CheckTools",
    protocol_pb.CheckToolsRequest,
    protocol_pb.CheckToolsResponse,
)
CHECK_ELICITATION: Final = Rpc(
    PROTOCOL,
    "CheckElicitation",
    protocol_pb.CheckElicitationRequest,
    protocol_pb.CheckElicitationResponse,
)
CHECK_ELICITATION_RESULT: Final = Rpc(
    PROTOCOL,
    "CheckElicitationResult",
    protocol_pb.CheckElicitationResultRequest,
    protocol_pb.CheckElicitationResultResponse,
)
CHECK_SAMPLING: Final = Rpc(
    PROTOCOL,
    "CheckSampling",
    protocol_pb.CheckSamplingRequest,
    protocol_pb.CheckSamplingResponse,
)
CHECK_TOOL_RESULT: Final = Rpc(
    PROTOCOL,
    "CheckToolResult",
    protocol_pb.CheckToolResultRequest,
    protocol_pb.CheckToolResultResponse,
)
NORMALIZE_TOOL_RESULT: Final = Rpc(
    PROTOCOL,
    "NormalizeToolResult",
    protocol_pb.NormalizeToolResultRequest,
    protocol_pb.NormalizeToolResultResponse,
)
CHECK_MESSAGE: Final = Rpc(
    PROTOCOL,
    "CheckMessage",
    protocol_pb.CheckMessageRequest,
    protocol_pb.CheckMessageResponse,
)
CHECK_BATCH: Final = Rpc(
    PROTOCOL,
    "CheckBatch",
    protocol_pb.CheckBatchRequest,
    protocol_pb.CheckBatchResponse,
)
CHECK_SESSION: Final = Rpc(
    PROTOCOL,
    "CheckSession",
    protocol_pb.CheckSessionRequest,
    protocol_pb.CheckSessionResponse,
)
CONVERT_TOOLS: Final = Rpc(
    CONVERSION,
    "ConvertTools",
    conversion_pb.ConvertToolsRequest,
    conversion_pb.ConvertToolsResponse,
)
RESTORE_TOOL_CALL: Final = Rpc(
    CONVERSION,
    "ConvertToolCall",
    conversion_pb.ConvertToolCallRequest,
    conversion_pb.ConvertToolCallResponse,
)
CONVERT_TOOL_RESULT: Final = Rpc(
    CONVERSION,
    "ConvertToolResult",
    conversion_pb.ConvertToolResultRequest,
    conversion_pb.ConvertToolResultResponse,
)
INFER_TOOLS: Final = Rpc(
    INFERENCE,
    "InferTools",
    inference_pb.InferToolsRequest,
    inference_pb.InferToolsResponse,
)
PROJECT_TOOL: Final = Rpc(
    INFERENCE,
    "AdaptTool",
    inference_pb.AdaptToolRequest,
    inference_pb.AdaptToolResponse,
)
GET_SERVER_INFO: Final = Rpc(
    INFO, "GetServerInfo", info_pb.GetServerInfoRequest, info_pb.GetServerInfoResponse
)

#: Those in which both sides send as they please.
STREAMS: Final = (VALIDATE_STREAM, CHECK_SESSION)
