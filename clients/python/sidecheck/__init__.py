"""The Python client of Sidecheck, a validation sidecar for MCP.

`Client` is asynchronous and `BlockingClient` is blocking. Both return a `Verdict` for every
payload, valid or not, and raise `SidecheckError` if no verdict was possible.
"""

from sidecheck._async.client import Client
from sidecheck._async.conversion import ConversionClient
from sidecheck._async.inference import InferenceClient
from sidecheck._async.protocol import ProtocolClient
from sidecheck._async.session import Session
from sidecheck._async.streams import Stream
from sidecheck._async.validator import Validator
from sidecheck._blocking.client import BlockingClient
from sidecheck._blocking.conversion import BlockingConversionClient
from sidecheck._blocking.inference import BlockingInferenceClient
from sidecheck._blocking.protocol import BlockingProtocolClient
from sidecheck._blocking.session import BlockingSession
from sidecheck._blocking.streams import BlockingStream
from sidecheck._blocking.validator import BlockingValidator
from sidecheck.comparison import ServerTools
from sidecheck.conversion import (
    ConversionMode,
    ConversionOptions,
    ConvertedCall,
    ConvertedResult,
    ConvertedTool,
    ConvertedTools,
    Convertible,
    MappingJson,
    ModelApi,
    ServerPrefix,
    ToolConversion,
    ToolToConvert,
)
from sidecheck.converter import ConversionError, ConversionFailure, MCPToOpenAIConverter
from sidecheck.errors import (
    InvalidResponse,
    SidecheckError,
    StreamClosed,
    StreamUnavailable,
    Unavailable,
)
from sidecheck.json_types import JsonText
from sidecheck.portability import Portability
from sidecheck.protocol import (
    CheckedNames,
    CheckedTools,
    CheckItem,
    CheckOptions,
    CheckOutcome,
    CheckResult,
    Disposition,
    Elicitation,
    ElicitationResult,
    NameCollision,
    ProtocolContext,
    ProtocolJson,
    ProtocolMessage,
    RepeatedViolation,
    ResultProfile,
    Rule,
    Sampling,
    Sender,
    SessionSummary,
    ToolNameOutcome,
    ToolOutcome,
    ToolResult,
)
from sidecheck.registry import OnRejected, Tool
from sidecheck.rejections import ToolsRejected
from sidecheck.return_values import NormalizedResult
from sidecheck.streams import StreamOutcome
from sidecheck.targets import (
    DefinitionDigest,
    Document,
    RegisteredTool,
    Schema,
    SchemaDigest,
    SchemaJson,
    Target,
    ToolDefinition,
    ToolJson,
)
from sidecheck.text_contract import MCP_TOOL_RESULT_SCHEMA_V1
from sidecheck.tls import Tls
from sidecheck.validation import (
    ABSENT,
    Absent,
    Arguments,
    CallParams,
    CallResult,
    Coercion,
    Detail,
    Item,
    OnUnavailable,
    OnUnknownTool,
    Options,
    Payload,
    StructuredContent,
    Subject,
    UnknownArguments,
    ValidateOutcome,
)
from sidecheck.values.comparison import (
    ChangeEffect,
    ChangeLevel,
    Comparison,
    DefinitionChange,
    DefinitionPart,
    SchemaComparison,
    SchemaReading,
    SchemaRelation,
    SchemaVerdict,
    ToolComparison,
    ToolStatus,
    Witness,
)
from sidecheck.values.error_reasons import ErrorReason
from sidecheck.values.inference import AdaptedTool, Diagnostic, InferredTool, InferredTools
from sidecheck.values.inference_options import OnUnsupported
from sidecheck.values.info import EngineInfo, Limits, ServerInfo
from sidecheck.values.losses import Effect, Loss, LossAction
from sidecheck.values.portability import PortabilityProof, PortableForm, ProofOutcome
from sidecheck.values.registration_options import ChangePolicy, CompatibilityPolicy
from sidecheck.values.registry import Action, Deletion, Registration, RegistrationOutcome
from sidecheck.values.verdict import Change, Repair, Severity, Verdict, Violation
from sidecheck.verdicts import InvalidPayload
from sidecheck.watching import Checkpoint, ToolsChange, WatchEvent
from sidecheck.wrapping import NoValue, WrapMismatch, unwrap

__all__ = [
    "ABSENT",
    "MCP_TOOL_RESULT_SCHEMA_V1",
    "Absent",
    "Action",
    "AdaptedTool",
    "Arguments",
    "BlockingClient",
    "BlockingConversionClient",
    "BlockingInferenceClient",
    "BlockingProtocolClient",
    "BlockingSession",
    "BlockingStream",
    "BlockingValidator",
    "CallParams",
    "CallResult",
    "Change",
    "ChangeEffect",
    "ChangeLevel",
    "ChangePolicy",
    "CheckItem",
    "CheckOptions",
    "CheckOutcome",
    "CheckResult",
    "CheckedNames",
    "CheckedTools",
    "Checkpoint",
    "Client",
    "Coercion",
    "Comparison",
    "CompatibilityPolicy",
    "ConversionClient",
    "ConversionError",
    "ConversionFailure",
    "ConversionMode",
    "ConversionOptions",
    "ConvertedCall",
    "ConvertedResult",
    "ConvertedTool",
    "ConvertedTools",
    "Convertible",
    "DefinitionChange",
    "DefinitionDigest",
    "DefinitionPart",
    "Deletion",
    "Detail",
    "Diagnostic",
    "Disposition",
    "Document",
    "Effect",
    "Elicitation",
    "ElicitationResult",
    "EngineInfo",
    "ErrorReason",
    "InferenceClient",
    "InferredTool",
    "InferredTools",
    "InvalidPayload",
    "InvalidResponse",
    "Item",
    "JsonText",
    "Limits",
    "Loss",
    "LossAction",
    "MCPToOpenAIConverter",
    "MappingJson",
    "ModelApi",
    "NameCollision",
    "NoValue",
    "NormalizedResult",
    "OnRejected",
    "OnUnavailable",
    "OnUnknownTool",
    "OnUnsupported",
    "Options",
    "Payload",
    "Portability",
    "PortabilityProof",
    "PortableForm",
    "ProofOutcome",
    "ProtocolClient",
    "ProtocolContext",
    "ProtocolJson",
    "ProtocolMessage",
    "RegisteredTool",
    "Registration",
    "RegistrationOutcome",
    "Repair",
    "RepeatedViolation",
    "ResultProfile",
    "Rule",
    "Sampling",
    "Schema",
    "SchemaComparison",
    "SchemaDigest",
    "SchemaJson",
    "SchemaReading",
    "SchemaRelation",
    "SchemaVerdict",
    "Sender",
    "ServerInfo",
    "ServerPrefix",
    "ServerTools",
    "Session",
    "SessionSummary",
    "Severity",
    "SidecheckError",
    "Stream",
    "StreamClosed",
    "StreamOutcome",
    "StreamUnavailable",
    "StructuredContent",
    "Subject",
    "Target",
    "Tls",
    "Tool",
    "ToolComparison",
    "ToolConversion",
    "ToolDefinition",
    "ToolJson",
    "ToolNameOutcome",
    "ToolOutcome",
    "ToolResult",
    "ToolStatus",
    "ToolToConvert",
    "ToolsChange",
    "ToolsRejected",
    "Unavailable",
    "UnknownArguments",
    "ValidateOutcome",
    "Validator",
    "Verdict",
    "Violation",
    "WatchEvent",
    "Witness",
    "WrapMismatch",
    "unwrap",
]
